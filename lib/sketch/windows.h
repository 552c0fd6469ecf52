// The rule `windows`, for CPUs: reductions over the window around each pixel, such as pools and depthwise convolutions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sketch/sketch.h"

namespace hone::sketch {

// Condition: `output` is element-wise in one reduction, at its own indices, and else reads stages of fewer axes; the
// reduction reads arguments only. The last axis is one vector and the last index of all that the reduction reads, or
// not used there; the axis before it (the pixels of a row) is used in one index. Or the reduction multiplies what it
// reads by a constant of `constants`, which has the lanes along one dimension and is the same for all pixels; a lane
// may then read any lane of the vector. Arguments of one element, such as a zero point, do not matter.
//
// Effect: the reductions of some pixels of a row stay in registers. Decisions:
// - tile: pixels;
// - rows: of a task, if there is an axis before the pixels;
// - taps: whether the window's last axis is `unrolled`, or a `loop`. Unrolled, positions outside the input cost
// nothing:
//   the tiles at both ends of a row get code of their own;
//   With a weight, channels are unrolled like columns, and `window` unrolls rows as well;
// - tall: with a weight, the rows of a tile, one or two;
// - threads: they share the tasks (`rows`), or one thread computes `all`.
// The weight is stored by blocks of lanes, in the order of the reduction.
std::optional<Sketch> WindowTiles(const te::Tensor& output, const std::vector<std::string>& constants,
                                  const Target& target);

}  // namespace hone::sketch
