#include "op/conv/cook_toom_te.h"

#include <algorithm>

#include "base/check.h"

namespace hone::op {
namespace {

using ir::Expr;

struct Term {
  Rational factor;
  Expr value;
};
using Sum = std::vector<Term>;

Expr Emit(const Sum& sum) {
  if (sum.empty()) return Expr();
  // First one that needs no multiplication: the others become multiply-adds.
  size_t first = 0;
  while (first + 1 < sum.size() && !(sum[first].factor == Rational(1))) ++first;
  if (!(sum[first].factor == Rational(1))) first = 0;
  Expr total = sum[first].value;
  if (!(sum[first].factor == Rational(1))) total = total * ir::Imm(total.type(), sum[first].factor.value());
  for (size_t i = 0; i < sum.size(); ++i) {
    if (i == first) continue;
    const auto& [factor, value] = sum[i];
    if (factor == Rational(1)) {
      total = total + value;
    } else if (factor == Rational(-1)) {
      total = total - value;
    } else {
      total = total + value * ir::Imm(value.type(), factor.value());
    }
  }
  return total;
}

enum class Likeness { kNone, kSame, kOpposite };

Likeness Compare(const Rational& a, const Rational& b) {
  if (a == b) return Likeness::kSame;
  return a == Rational(0) - b ? Likeness::kOpposite : Likeness::kNone;
}

// Whether a and b agree up to sign everywhere, with both signs occurring.
bool Paired(const std::vector<Rational>& a, const std::vector<Rational>& b) {
  int same = 0, opposite = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == Rational(0) && b[i] == Rational(0)) continue;
    Likeness likeness = Compare(a[i], b[i]);
    if (likeness == Likeness::kNone) return false;
    ++(likeness == Likeness::kSame ? same : opposite);
  }
  return same > 0 && opposite > 0;
}

// The rows as sums over columns, with similar columns replaced by their sums and differences.
std::vector<Sum> MeetColumns(const RationalMatrix& matrix, const std::vector<Expr>& x) {
  RationalMatrix columns = Transposed(matrix);
  std::vector<Sum> rows(matrix.size());
  std::vector<bool> done(columns.size());
  for (size_t j = 0; j < columns.size(); ++j) {
    if (done[j]) continue;
    size_t k = j + 1;
    while (k < columns.size() && (done[k] || !Paired(columns[j], columns[k]))) ++k;
    Expr sum = x[j], difference;
    if (k < columns.size()) {
      done[k] = true;
      sum = x[j] + x[k];
      difference = x[j] - x[k];
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if (columns[j][i] == Rational(0)) continue;
      bool same = !difference.defined() || columns[j][i] == columns[k][i];
      rows[i].push_back({columns[j][i], same ? sum : difference});
    }
  }
  return rows;
}

// The factors of all `values` in a sum.
std::vector<Rational> Factors(const Sum& sum, const std::vector<Expr>& values) {
  std::vector<Rational> factors;
  for (const Expr& value : values) {
    Rational factor;
    for (const Term& term : sum) {
      if (term.value.same_as(value)) factor = term.factor;
    }
    factors.push_back(factor);
  }
  return factors;
}

}  // namespace

RationalMatrix Transposed(const RationalMatrix& matrix) {
  RationalMatrix result(matrix[0].size(), std::vector<Rational>(matrix.size()));
  for (size_t i = 0; i < matrix.size(); ++i) {
    for (size_t j = 0; j < matrix[i].size(); ++j) result[j][i] = matrix[i][j];
  }
  return result;
}

std::vector<Expr> ApplyMatrix(const RationalMatrix& matrix, const std::vector<Expr>& x) {
  HONE_CHECK(!matrix.empty() && matrix[0].size() == x.size());
  std::vector<Sum> sums = MeetColumns(matrix, x);
  std::vector<Expr> values;  // the distinct ones in all sums
  for (const Sum& sum : sums) {
    for (const Term& term : sum) {
      auto same = [&](const Expr& v) { return v.same_as(term.value); };
      if (std::none_of(values.begin(), values.end(), same)) values.push_back(term.value);
    }
  }
  std::vector<Expr> rows(matrix.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].defined()) continue;
    size_t j = i + 1;
    while (j < rows.size() && (rows[j].defined() || !Paired(Factors(sums[i], values), Factors(sums[j], values)))) ++j;
    if (j == rows.size()) {
      rows[i] = Emit(sums[i]);
      if (!rows[i].defined()) rows[i] = ir::Imm(x[0].type(), 0);
      continue;
    }
    Sum agree, differ;
    for (const auto& [factor, value] : sums[i]) {
      bool same = false;
      for (const Term& other : sums[j]) same = same || (other.value.same_as(value) && other.factor == factor);
      (same ? agree : differ).push_back({factor, value});
    }
    Expr even = Emit(agree), odd = Emit(differ);
    rows[i] = even + odd;
    rows[j] = even - odd;
  }
  return rows;
}

Expr Pick(const Expr& index, const std::vector<Expr>& values) {
  Expr result = values.back();
  for (size_t i = values.size() - 1; i-- > 0;) {
    result = ir::MakeSelect(ir::Eq(index, Expr(static_cast<int64_t>(i))), values[i], result);
  }
  return result;
}

Expr TransformedAt(const Expr& row, const RationalMatrix& matrix, const std::function<Expr(const Expr&)>& at) {
  std::vector<Expr> x;
  for (size_t i = 0; i < matrix[0].size(); ++i) x.push_back(at(Expr(static_cast<int64_t>(i))));
  return Pick(row, ApplyMatrix(matrix, x));
}

Expr PickEntry(const RationalMatrix& matrix, const Expr& row, size_t column) {
  std::vector<Expr> values;
  for (const auto& entries : matrix) values.push_back(ir::Imm(DType::Float(64), entries[column].value()));
  return Pick(row, values);
}

}  // namespace hone::op
