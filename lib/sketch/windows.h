// The rule `windows`, for CPUs: reductions over the window around each pixel, such as pools.
#pragma once

#include <optional>

#include "sketch/sketch.h"

namespace hone::sketch {

// Condition: `output` is element-wise in one reduction over floats, at its own indices, and else reads stages of fewer
// axes; the reduction reads arguments only. The last axis is one vector and the last index of all that the reduction
// reads, or not used there; the axis before it (the pixels of a row) is used in one index.
//
// Effect: the reductions of some pixels of a row stay in registers. Decisions:
// - tile: pixels;
// - rows: of a task, if there is an axis before the pixels;
// - taps: whether the window's last axis is `unrolled`, or a `loop`. Unrolled, positions outside the input cost nothing:
//   the tiles at both ends of a row get code of their own;
// - threads: they share the tasks (`rows`), or one thread computes `all`.
std::optional<Sketch> WindowTiles(const te::Tensor& output, const Target& target);

}  // namespace hone::sketch
