// The rule `sums`, for CPUs: a reduction whose values are used again while they are in registers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sketch/sketch.h"

namespace hone::sketch {

// Condition: as for SumNestOf (sketch/sum_nest.h), with an axis for the rows of a tile: `output` is a sum, or
// element-wise in one; some tensor that the sum reads lacks an axis of the output. `constants` names arguments that
// are constants.
//
// Effect: tiles of the output are summed up in vector registers over the whole reduction, and stored once. The last
// axis is in vectors. A tile has several vectors along it, or along an axis outside of it that the same tensors have
// (blocks of channels). Its rows are those of the innermost axis that other tensors have, and of the next such axis.
// Constants are stored in the order in which a tile reads them. An element-wise source (a padded copy) is computed once
// or in each task. doc/internals/sketches.md lists the decisions.
std::optional<Sketch> SumTiles(const te::Tensor& output, const std::vector<std::string>& constants,
                               const Target& target);

}  // namespace hone::sketch
