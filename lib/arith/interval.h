// Symbolic intervals: the range that an index expression covers while some variables run and others stay symbolic.
// Bound inference (lower/bounds) asks for the region of a tensor that a part of a loop nest accesses.
//
// Idea: write the expression as a linear form and replace the running variables, innermost first, by the end of their
// range that makes the sum greatest (or least), which the sign of the coefficient tells. Replacing whole terms of a
// sum, not the operands of each operation, lets equal terms cancel, so affine expressions get exact ends. Terms that
// are not linear (/, %, min, max) are replaced by their own bounds first.
//
// Invariant: the interval contains every value. It may be wider than needed, or unknown, but never too narrow.
#pragma once

#include <vector>

#include "arith/simplify.h"
#include "ir/expr.h"

namespace hone::arith {

// min .. max, both inclusive; a null end is unknown.
struct Interval {
  ir::Expr min, max;
  bool known() const { return min.defined() && max.defined(); }
};

// `var` runs over `range`, whose ends may use symbolic variables and those earlier in the list.
struct RunningVar {
  ir::Var var;
  Interval range;
};

// An interval that contains every value of `e` while the `running` variables (outermost first) run. Its ends use only
// the other variables, which `analyzer` knows, and are simplified. It is exact if `e` is affine in the running
// variables, and may be wider if div, mod, min or max mix them. REQUIRES: scalar i64.
Interval IntervalOf(const ir::Expr& e, const std::vector<RunningVar>& running, Analyzer* analyzer);

// The smallest interval that contains both, as far as it is known.
Interval Union(const Interval& a, const Interval& b, Analyzer* analyzer);

// max - min + 1, simplified. REQUIRES: known().
ir::Expr ExtentOf(const Interval& interval, Analyzer* analyzer);

}  // namespace hone::arith
