// Functions of float tensors without an intrinsic in the IR, as expressions of intrinsics (f32, error about 1e-6
// relative, or absolute near a zero; NaN and infinities as in C).
#pragma once

#include <vector>

#include "ir/expr.h"

namespace hone::op {

ir::Expr Float(double value);
ir::Expr CallMath(ir::Intrinsic fn, ir::Expr x);
// The larger (smaller) number; NaN if x is. `bound` is not NaN, so ir::Max and ir::Min suffice, with the operands in
// the order that passes on a NaN, while te::CombineReduction checks both.
ir::Expr AtLeast(ir::Expr x, double bound);
ir::Expr AtMost(ir::Expr x, double bound);

// The scalar function of semantics/elementwise.h as an expression. `x` are its inputs, `a` its parameters' values.
ir::Expr ScalarExpr(const char* name, const std::vector<ir::Expr>& x, const std::vector<double>& a);

}  // namespace hone::op
