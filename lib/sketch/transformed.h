// The rule `transformed`, for CPUs: a sum of products between transforms of tiles, such as Winograd's convolution.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sketch/sketch.h"

namespace hone::sketch {

// Condition: a chain of stages. In the middle is a sum, as for SumNestOf (sketch/sum_nest.h), of a stage times a
// constant, with the constant's lanes as its last axis; one axis, the tiles, only that stage has. The stages before it
// transform data, one axis of a tile's elements at a time, and may begin with a padded copy. The stages behind it
// transform its elements back; the output reads each of its pixels in the tile that has it. The rule knows a transform
// by its indices alone: all are plain axes or constants.
//
// Effect: a task computes the transformed data of a block of tiles in its own memory, multiplies them for some vectors
// of channels in register tiles as `sums` does, and transforms the products back while it stores its part of the
// output. Constants are stored in the order in which a register tile reads them. doc/internals/sketches.md lists the
// decisions.
std::optional<Sketch> TransformedTiles(const te::Tensor& output, const std::vector<std::string>& constants,
                                       const Target& target);

}  // namespace hone::sketch
