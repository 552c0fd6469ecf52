// Partition: moves conditions out of inner loops, so that padding becomes "zeros, copy, zeros" instead of a test for
// each element.
//
// Runs after specialize and before simplify and vectorize, as a vectorized loop cannot hold a condition on its own
// variable. Idea: cut a loop where a condition changes its value. For a condition c1 && c2 && .. (of if_then_else or
// If) and each loop, take the part that this loop's variable is the last to decide:
// - If constants decide where the part holds, the loop is cut into at most three: false, the rest of the condition,
//   false.
// - If constants and unrolled or vectorized loops inside decide (the border of an image in a tile), the rounds in which
//   the part always holds become one loop. At most kMostSingle rounds before and after it are written out for unroll.
// - Otherwise the part becomes an If right inside the loop, in whose else branch the condition is false.
// A reduction's update by its identity (x = x + 0) is removed.
//
// Invariants: the pieces run the same iterations in the same order. Each condition doubles a body, so a body with more
// than kMaxConditions different ones is left alone.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

inline constexpr int kMaxConditions = 2;
inline constexpr int kMostSingle = 3;

ir::Stmt PartitionConditions(const ir::Stmt& body);

}  // namespace hone::lower
