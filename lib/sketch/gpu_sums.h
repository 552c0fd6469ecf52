// The rule `gpu_sums`, for GPUs: a reduction whose values are used again while they are in registers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sketch/sketch.h"

namespace hone::sketch {

// Condition: as for SumNestOf (sketch/sum_nest.h), but the last axis may be anywhere in an index: `output` is a sum, or
// element-wise in one; some tensor that the sum reads lacks an axis of the output; a block of a warp has values to
// compute. `constants` names arguments that are constants.
//
// Effect: a block computes a tile of up to three axes: x, the last one; y, the innermost axis that other tensors have;
// z, the next axis with the same tensors as x. Each thread sums up some values in registers over the reduction, or over
// a part of it, and a second kernel adds up the parts. All threads of a block fetch what a step of the reduction reads
// into shared memory, or each reads it by way of the caches. Constants are stored as threads read them. An element-wise
// source (a padded copy) is part of that, or a kernel of its own.
// doc/internals/sketches.md lists the decisions.
std::optional<Sketch> GpuSumTiles(const te::Tensor& output, const std::vector<std::string>& constants,
                                  const Target& target);

}  // namespace hone::sketch
