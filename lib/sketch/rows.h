// The rule `rows`, for CPUs: several reductions under one loop.
#pragma once

#include <optional>

#include "sketch/sketch.h"

namespace hone::sketch {

// Condition: `output` is made of reductions (sum, max, min) with the same kept axes, and of element-wise stages that
// read them at their own indices (softmax, norms, reduce_mean, ..); vectors can run along the last index of
// what is read (row_stages.h has the details).
//
// Effect: all stages of a row, or of some columns if the last axis is kept, are computed one after the other while the
// row is in the first cache. A reduction along the last axis has partial results in the lanes of vectors, which are
// then halved or quartered until one is left. Decisions:
// - width: partial results of a reduction along the last axis, of several vectors, so that latencies overlap;
// - vectors: columns of a tile, if the last axis is kept;
// - threads: they share the `rows` (all kept axes except a last one in vectors) or the tiles of `columns`, or `one`
//   thread computes all;
// - elements: element-wise stages beside the output are `stored` for a row, or computed `again` in each reader;
// - order: the stages of a row `together`, or in `parts`, if there are few rows: the threads share each reduction, one
//   after the other.
std::optional<Sketch> ReduceRows(const te::Tensor& output, const Target& target);

}  // namespace hone::sketch
