// Partition: conditions leave inner loops, so that padding becomes "zeros, copy, zeros" instead of a test an element.
//
// After specialize and before simplify and vectorize: a vectorized loop cannot hold a condition on its own variable.
// For a condition c1 && c2 && .. (of if_then_else or If) and each loop, the part that this loop's variable is the last
// to decide:
// - if constants decide where it holds, the loop is cut in up to three: false, what remains of the condition, false;
// - if constants and unrolled or vectorized loops inside decide (the border of an image in a tile), the rounds where it
//   holds throughout are one loop, and at most kMostSingle before and behind are written out, for unroll to decide;
// - else it becomes an If right inside the loop, whose else side has the condition false.
// A reduction's update by its identity (x = x + 0) goes.
//
// A body with more than kMaxConditions different conditions is left alone, since each of them doubles it.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

inline constexpr int kMaxConditions = 2;
inline constexpr int kMostSingle = 3;

ir::Stmt PartitionConditions(const ir::Stmt& body);

}  // namespace hone::lower
