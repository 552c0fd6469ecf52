// Scalar i64 expressions as a sum of terms with constant coefficients, plus a constant.
#pragma once

#include <optional>
#include <vector>

#include "ir/expr.h"

namespace hone::arith {

// The names of ir that most files of this layer use.
using ir::Binary;
using ir::Expr;
using ir::ExprKind;

// sum(coefficient * term) + constant. No term is an immediate, a sum or a constant multiple; no two terms are
// structurally equal; no coefficient is 0. Arithmetic on coefficients wraps, as for i64.
struct Linear {
  struct Term {
    ir::Expr term;
    int64_t coefficient = 0;
  };
  std::vector<Term> terms;  // in order of first appearance
  int64_t constant = 0;

  bool IsConstant() const { return terms.empty(); }
  void Add(const ir::Expr& term, int64_t coefficient);  // merges with an equal term
  void AddScaled(const Linear& other, int64_t factor);
  int64_t CoefficientOf(const ir::Expr& term) const;  // 0 if absent
};

// Splits sums, differences and constant multiples into terms; does not change the terms. REQUIRES: a scalar i64.
Linear ToLinear(const ir::Expr& e);

// The canonical form: terms in order, `term*c` (c omitted if 1), a negative coefficient as a difference unless it is
// first, the constant last and added (so `x + -3`, printed `x - 3`).
ir::Expr ToExpr(const Linear& linear);

// c such that e = c * var + (something without var); 0 if e does not use var; nothing if e uses var in another way.
std::optional<int64_t> StrideOf(const ir::Expr& e, const ir::Var& var);

}  // namespace hone::arith
