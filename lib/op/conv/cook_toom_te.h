// Cook-Toom transforms as expressions.
#pragma once

#include <vector>

#include "ir/expr.h"
#include "op/conv/cook_toom.h"

namespace hone::op {

// matrix * x: one expression a row. Nothing is multiplied by 0 or 1. Two columns that agree up to sign in every row
// meet in their sum and difference; two rows that agree up to sign share what they agree in and what they differ in:
// equal expressions, which a backend computes once.
std::vector<ir::Expr> ApplyMatrix(const RationalMatrix& matrix, const std::vector<ir::Expr>& x);

// values[index]; the last one for any other index. A chain of selections, of which one remains where the index is
// constant.
ir::Expr Pick(const ir::Expr& index, const std::vector<ir::Expr>& values);

// matrix[row][column] of type f64, the row an expression.
ir::Expr PickEntry(const RationalMatrix& matrix, const ir::Expr& row, size_t column);

RationalMatrix Transposed(const RationalMatrix& matrix);

}  // namespace hone::op
