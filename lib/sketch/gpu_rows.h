// The rule `gpu_rows`, for GPUs: softmax, norms and reductions, in one kernel.
#pragma once

#include <optional>

#include "sketch/sketch.h"

namespace hone::sketch {

// Condition: as for RowStagesOf (sketch/row_stages.h): reductions with the same kept axes, and element-wise stages that
// read them at their own indices.
//
// Effect: a block computes all stages of some rows. A row is all that has the same kept indices. If its elements lie
// side by side, neighbouring threads have neighbouring elements; else neighbouring threads have neighbouring rows.
// Results of a row are in registers, or in shared memory if threads share the reduction. Decisions:
// - lanes: threads that share a row;
// - rows: of a block;
// - elements: an element-wise stage that others read is `stored` in shared memory, or computed `again` in each reader.
std::optional<Sketch> GpuRowBlocks(const te::Tensor& output, const Target& target);

}  // namespace hone::sketch
