// The rule `stages`, for CPUs: any computation, as one nest of loops after another.
#pragma once

#include "sketch/sketch.h"

namespace hone::sketch {

// Condition: applies to every computation. Other rules make faster schedules of the computations that they accept.
//
// Effect: each stage is a nest of loops, with vectors along its last axis and its other axes in their order. Partial
// results of a reduction stay in registers. Decisions:
// - vectors: of the output along its last axis, for one round of its innermost loop;
// - threads: they share the `rows` of each stage (all axes but the last one), the `vectors` of all rows, or one thread
//   computes `all`;
// - chunk: if the last axis is a single vector, the indices of the axis before it that a task of the output has;
// - tile: if lanes of a vector do not lie side by side, the indices of the axis before the last one that a tile has;
// - elements: element-wise stages beside the output are `stored`, or computed `again` in each reader.
Sketch StageNests(const te::Tensor& output, const Target& target);

}  // namespace hone::sketch
