// Loop nest: statements for every stage, with attached stages in their places.
//
// Second pass: turns the schedule and its bounds into one function. What it leaves to later passes: vectorized and
// unrolled loops (as For kinds), extents that are minima over tails (specialize), prefetches (a Pragma
// "prefetch:<buffer>" whose value is the distance in elements; buffers of one function have different names).
//
// - A reduction gives its result's identity first, right outside its outermost reduce loop, then updates.
// - An attached stage's buffer is allocated inside the loop, holds only the region, and is indexed from the region's
// min.
// - Scope: as the schedule says; else scratch inside a parallel loop and workspace outside. What is asked to be private
// to a
//   thread (register, scratch) but is used by a parallel loop inside becomes workspace; registers beyond 16 KiB,
//   scratch.
// - A parallel loop inside a parallel loop becomes serial.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "lower/bounds.h"
#include "schedule/schedule.h"

namespace hone::lower {

inline constexpr char kPrefetchPragma[] = "prefetch:";
inline constexpr char kFarPrefetchPragma[] = "prefetch2:";  // into the second level only

// `args`: lower/lower.h. Uses bounds->analyzer to simplify indices.
Result<ir::Function> MakeLoopNest(const schedule::Schedule& schedule, Bounds* bounds,
                                  const std::vector<te::Tensor>& args, const std::string& name);

}  // namespace hone::lower
