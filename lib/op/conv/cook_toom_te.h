// Cook-Toom transforms as expressions.
#pragma once

#include <functional>
#include <vector>

#include "ir/expr.h"
#include "op/conv/cook_toom.h"

namespace hone::op {

// matrix * x: one expression per row, without multiplications by 0 or 1. Two columns that agree up to sign in every row
// are combined into their sum and difference; two rows that agree up to sign share their common and their different
// part, as equal expressions that a back end computes once.
std::vector<ir::Expr> ApplyMatrix(const RationalMatrix& matrix, const std::vector<ir::Expr>& x);

// values[index]; the last one for any other index. A chain of selections, of which one remains if the index is
// constant.
ir::Expr Pick(const ir::Expr& index, const std::vector<ir::Expr>& values);

// (matrix * x)[row], where x[i] is at(i).
ir::Expr TransformedAt(const ir::Expr& row, const RationalMatrix& matrix,
                       const std::function<ir::Expr(const ir::Expr&)>& at);

// matrix[row][column] of type f64; the row is an expression.
ir::Expr PickEntry(const RationalMatrix& matrix, const ir::Expr& row, size_t column);

RationalMatrix Transposed(const RationalMatrix& matrix);

}  // namespace hone::op
