// Functions of float tensors that the IR has no intrinsic for, as expressions of those it has (f32, error about 1e-6
// relative, or absolute near a zero; NaN and infinities as in C).
#pragma once

#include <vector>

#include "ir/expr.h"

namespace hone::op {

ir::Expr Float(double value);
ir::Expr CallMath(ir::Intrinsic fn, ir::Expr x);
// The larger (smaller) number; NaN if x is. `bound` is no NaN: no more than ir::Max and ir::Min, in the order that lets
// a NaN through, where te::CombineReduction asks about both.
ir::Expr AtLeast(ir::Expr x, double bound);
ir::Expr AtMost(ir::Expr x, double bound);

// The scalar function of semantics/elementwise.h as an expression. `x`: its inputs, `a`: its parameters' values.
ir::Expr ScalarExpr(const char* name, const std::vector<ir::Expr>& x, const std::vector<double>& a);

}  // namespace hone::op
