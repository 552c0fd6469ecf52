#include "arith/linear.h"

#include "base/check.h"
#include "ir/analysis.h"

namespace hone::arith {

static int64_t Plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
static int64_t Times(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

static void Collect(const Expr& e, int64_t factor, Linear* out) {
  if (const int64_t* value = AsIntImm(e)) {
    out->constant = Plus(out->constant, Times(factor, *value));
    return;
  }
  if (const auto* op = e.as<Binary>()) {
    if (op->kind == ExprKind::kAdd || op->kind == ExprKind::kSub) {
      Collect(op->a, factor, out);
      Collect(op->b, op->kind == ExprKind::kAdd ? factor : Times(factor, -1), out);
      return;
    }
    if (op->kind == ExprKind::kMul) {
      if (const int64_t* b = AsIntImm(op->b)) return Collect(op->a, Times(factor, *b), out);
      if (const int64_t* a = AsIntImm(op->a)) return Collect(op->b, Times(factor, *a), out);
    }
  }
  out->Add(e, factor);
}

void Linear::Add(const Expr& term, int64_t coefficient) {
  if (coefficient == 0) return;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].term.kind() != term.kind() || !Equal(terms[i].term, term)) continue;
    terms[i].coefficient = Plus(terms[i].coefficient, coefficient);
    if (terms[i].coefficient == 0) terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
  terms.push_back({term, coefficient});
}

void Linear::AddScaled(const Linear& other, int64_t factor) {
  for (const Term& t : other.terms) Add(t.term, Times(t.coefficient, factor));
  constant = Plus(constant, Times(other.constant, factor));
}

int64_t Linear::CoefficientOf(const Expr& term) const {
  for (const Term& t : terms) {
    if (t.term.kind() == term.kind() && Equal(t.term, term)) return t.coefficient;
  }
  return 0;
}

Linear ToLinear(const Expr& e) {
  HONE_CHECK(e.type() == DType::Int(64));
  Linear result;
  Collect(e, 1, &result);
  return result;
}

Expr ToExpr(const Linear& linear) {
  Expr sum;
  for (const Linear::Term& t : linear.terms) {
    int64_t c = t.coefficient;
    bool subtract = sum.defined() && c < 0 && c != INT64_MIN;
    if (subtract) c = -c;
    Expr product = c == 1 ? t.term : t.term * Expr(c);
    sum = !sum.defined() ? product : subtract ? sum - product : sum + product;
  }
  if (!sum.defined()) return Expr(linear.constant);
  return linear.constant == 0 ? sum : sum + Expr(linear.constant);
}

std::optional<int64_t> StrideOf(const Expr& e, const ir::Var& var) {
  int64_t stride = 0;
  for (const Linear::Term& t : ToLinear(e).terms) {
    if (t.term.same_as(var)) {
      stride = t.coefficient;
    } else if (UsesVar(t.term, var)) {
      return std::nullopt;
    }
  }
  return stride;
}

}  // namespace hone::arith
