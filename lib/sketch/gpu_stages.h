// The rule `gpu_stages`, for GPUs: any computation, as one kernel after another.
#pragma once

#include "sketch/sketch.h"

namespace hone::sketch {

// Condition: applies to every computation. Other rules make faster schedules of the computations that they accept.
//
// Effect: each stage that is stored is a kernel, whose threads have neighbouring values. A reduction with as many
// values as its only reader is computed in the registers of the thread that reads it. Decisions:
// - threads: of a block;
// - vector: elements of the last axis that a thread computes and, side by side, loads and stores, if the kernel has no
//   reduction and the axis consists of whole ones;
// - lanes: threads that share a reduction of at least two warps of steps;
// - elements: element-wise stages beside the output are computed `again` in each reader, or `stored` by a kernel.
Sketch GpuStageNests(const te::Tensor& output, const Target& target);

}  // namespace hone::sketch
