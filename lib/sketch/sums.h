// The rule `sums`, for CPUs: a reduction whose values are used again while they are in registers.
#pragma once

#include <optional>

#include "sketch/sketch.h"

namespace hone::sketch {

// Condition: `output` is a sum over floats; each tensor that it reads has the output's last axis as the last index or
// not at all; and some tensor has not all axes.
//
// Effect: tiles of the output are summed up in vector registers over the whole reduction, and stored once. The last
// axis is in vectors. The rows of a tile are those of the innermost axis that some tensor lacks, which reads that
// tensor's value once for all of them. Decisions: rows of a tile, vectors of a row, unrolled steps of the last
// reduce axis, and the order of the loops: threads share the `rows` of tiles or their `columns`, or, with `others.`
// before it, the other axes, and then take the tiles of the same rows or columns one after the other.
std::optional<Sketch> SumTiles(const te::Tensor& output, const Target& target);

}  // namespace hone::sketch
