// Symbolic intervals: the range that an index expression covers while some variables run and others stay symbolic.
// Bound inference (lower/bounds) asks for the region of a tensor that a piece of a loop nest touches.
//
// Idea: write the expression as a linear form and replace one running variable after the other, the innermost first, by
// the end of its range that makes the sum greatest (or least): by the sign of the variable's coefficient. Replacing
// whole terms of a sum, not the operands of each operation, lets equal terms cancel, so affine expressions get exact
// ends. Terms that are not linear (/, %, min, max) are replaced first, by bounds of their own.
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

// `var` runs over `range`, whose ends may use variables that stand before it in the list, and symbolic ones.
struct RunningVar {
  ir::Var var;
  Interval range;
};

// An interval that contains every value of `e` while the `running` variables (outermost first) run, as expressions of
// the other variables; simplified in `analyzer`, which knows those. The tightest one if `e` is affine in the running
// variables; sound but perhaps wider where div, mod, min and max mix them. REQUIRES: scalar i64.
Interval IntervalOf(const ir::Expr& e, const std::vector<RunningVar>& running, Analyzer* analyzer);

// The smallest interval around both, as far as that is known.
Interval Union(const Interval& a, const Interval& b, Analyzer* analyzer);

// max - min + 1, simplified. REQUIRES: known().
ir::Expr ExtentOf(const Interval& interval, Analyzer* analyzer);

}  // namespace hone::arith
