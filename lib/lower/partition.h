// Partition: conditions leave inner loops, so that padding becomes "zeros, copy, zeros" instead of a test an element.
//
// After specialize and before simplify and vectorize: a vectorized loop cannot hold a condition on its own variable.
// For a condition c1 && c2 && .. (of if_then_else or If) and each loop, the part that this loop's variable is the last
// to decide:
// - if constants decide where it holds, the loop is cut in up to three: false, what remains of the condition, false;
// - else it becomes an If right inside the loop, whose else side has the condition false.
// A body with more than kMaxConditions different conditions is left alone, since each of them doubles it.
#pragma once

#include "ir/stmt.h"

namespace hone::lower {

inline constexpr int kMaxConditions = 2;

ir::Stmt PartitionConditions(const ir::Stmt& body);

}  // namespace hone::lower
