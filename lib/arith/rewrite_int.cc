#include <algorithm>
#include <numeric>

#include "arith/rewrite.h"
#include "ir/analysis.h"

namespace hone::arith {

using ir::AsIntImm;

// If `linear` is a single term with coefficient 1 that is an operation of `kind` by a positive constant, that term;
// else null.
static const Binary* OnlyTerm(const Linear& linear, ExprKind kind) {
  if (linear.terms.size() != 1 || linear.terms[0].coefficient != 1) return nullptr;
  const auto* op = linear.terms[0].term.as<Binary>();
  if (!op || op->kind != kind) return nullptr;
  const int64_t* c = AsIntImm(op->b);
  return c && *c > 0 ? op : nullptr;
}

// Splits x into g*a + b such that 0 <= b < g. Returns false if that is not certain.
static bool SplitByFactor(const Context& context, const Linear& x, int64_t g, Linear* a, Linear* b) {
  for (const Linear::Term& t : x.terms) {
    if (t.coefficient % g == 0) {
      a->Add(t.term, t.coefficient / g);
    } else {
      b->Add(t.term, t.coefficient);
    }
  }
  a->constant = ir::FloorDiv(x.constant, g);
  b->constant = ir::FloorMod(x.constant, g);
  if (a->terms.empty()) return false;
  ConstInterval bounds = context.BoundsOf(*b);
  return bounds.min >= 0 && bounds.max < g;
}

// The factors that coefficients share with c, largest first, without 1.
static std::vector<int64_t> Factors(const Linear& x, int64_t c) {
  std::vector<int64_t> factors;
  for (const Linear::Term& t : x.terms) {
    if (int64_t g = std::gcd(t.coefficient, c); g > 1) factors.push_back(g);
  }
  std::sort(factors.rbegin(), factors.rend());
  factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
  return factors;
}

void Rewriter::Collect(const Expr& e, int64_t factor, Linear* out) {
  if (const auto* op = e.as<Binary>()) {
    switch (op->kind) {
      case ExprKind::kAdd:
        Collect(op->a, factor, out);
        return Collect(op->b, factor, out);
      case ExprKind::kSub:
        Collect(op->a, factor, out);
        return Collect(op->b, -factor, out);
      case ExprKind::kMul: {
        if (const int64_t* b = AsIntImm(op->b)) return Collect(op->a, factor * *b, out);
        if (const int64_t* a = AsIntImm(op->a)) return Collect(op->b, factor * *a, out);
        int64_t own = 1;
        Expr a = Mutate(op->a), b = Mutate(op->b);
        Expr product = a.same_as(op->a) && b.same_as(op->b) ? Same(*op) : Expr();
        Expr made = Product(a, b, &own);
        if (!product.defined() || !Equal(product, made)) product = made;
        const auto* still = product.as<Binary>();
        if (still && still->kind == ExprKind::kMul && !AsIntImm(still->a) && !AsIntImm(still->b)) {
          return out->Add(product, factor * own);
        }
        return out->AddScaled(ToLinear(product), factor * own);
      }
      default:
        break;
    }
  }
  out->AddScaled(ToLinear(Mutate(e)), factor);
}

// a * b, with constant factors of both moved into *factor.
Expr Rewriter::Product(const Expr& a, const Expr& b, int64_t* factor) {
  auto strip = [&](const Expr& e) {
    Linear l = ToLinear(e);
    if (l.IsConstant()) {
      *factor *= l.constant;
      return Expr(1);
    }
    if (l.terms.size() != 1 || l.constant != 0) return e;
    *factor *= l.terms[0].coefficient;
    return l.terms[0].term;
  };
  Expr x = strip(a), y = strip(b);
  if (AsIntImm(x)) return y;
  if (AsIntImm(y)) return x;
  return x * y;
}

Linear Rewriter::Simplified(const Expr& e) {
  Linear linear;
  Collect(e, 1, &linear);
  return linear;
}

// (x / c) * (k*c) + (x % c) * k = x * k.
void Rewriter::MergeDivMod(Linear* linear) {
  for (size_t i = 0; i < linear->terms.size(); ++i) {
    const auto* mod = linear->terms[i].term.as<Binary>();
    const int64_t* c = mod && mod->kind == ExprKind::kMod ? AsIntImm(mod->b) : nullptr;
    if (!c || *c <= 0) continue;
    int64_t k = linear->terms[i].coefficient;
    Linear x = ToLinear(mod->a), quotient = Divide(x, *c);
    if (quotient.terms.size() != 1 || quotient.terms[0].coefficient != 1 || quotient.constant != 0) continue;
    if (linear->CoefficientOf(quotient.terms[0].term) != k * *c) continue;
    Expr mod_term = linear->terms[i].term;
    linear->Add(quotient.terms[0].term, -k * *c);
    linear->Add(mod_term, -k);
    linear->AddScaled(x, k);
    return MergeDivMod(linear);
  }
}

Expr Rewriter::Rebuild(Linear linear) {
  MergeDivMod(&linear);
  if (linear.terms.size() > 1 && !context_.bindings.empty()) {
    std::vector<std::pair<int, Linear::Term>> keyed;
    for (Linear::Term& t : linear.terms) keyed.emplace_back(context_.DepthOf(t.term), std::move(t));
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < keyed.size(); ++i) linear.terms[i] = std::move(keyed[i].second);
  }
  return ToExpr(linear);
}

Linear Rewriter::Divide(const Linear& x, int64_t c) {
  if (c == 1) return x;
  // x = c*q + r.
  Linear q, r;
  for (const Linear::Term& t : x.terms) {
    q.Add(t.term, t.coefficient / c);
    r.Add(t.term, t.coefficient % c);
  }
  q.constant = ir::FloorDiv(x.constant, c);
  r.constant = ir::FloorMod(x.constant, c);
  ConstInterval bounds = context_.BoundsOf(r);
  if (bounds.finite() && ir::FloorDiv(bounds.min, c) == ir::FloorDiv(bounds.max, c)) {
    q.constant += ir::FloorDiv(bounds.min, c);
    return q;
  }
  for (int64_t g : Factors(r, c)) {
    Linear a, b;
    if (!SplitByFactor(context_, r, g, &a, &b)) continue;
    q.AddScaled(Divide(a, c / g), 1);
    return q;
  }
  Linear without_constant = r;
  without_constant.constant = 0;
  if (const Binary* inner = OnlyTerm(without_constant, ExprKind::kDiv)) {
    // (y/a + k) / c = (y + k*a) / (a*c)
    int64_t a = *AsIntImm(inner->b), ac;
    if (!__builtin_mul_overflow(a, c, &ac)) {
      Linear y = ToLinear(inner->a);
      y.constant += r.constant * a;
      q.AddScaled(Divide(y, ac), 1);
      return q;
    }
  }
  if (const Binary* inner = OnlyTerm(r, ExprKind::kMod); inner && r.constant == 0 && *AsIntImm(inner->b) % c == 0) {
    // (y % (a*c)) / c = (y / c) % a
    q.AddScaled(Modulo(Divide(ToLinear(inner->a), c), *AsIntImm(inner->b) / c), 1);
    return q;
  }
  q.Add(Rebuild(r) / Expr(c), 1);
  return q;
}

Linear Rewriter::Modulo(const Linear& x, int64_t c) {
  Linear r;
  if (c == 1) return r;
  bool opened = false;
  for (const Linear::Term& t : x.terms) {
    const auto* op = t.term.as<Binary>();
    const int64_t* m = op && op->kind == ExprKind::kMod ? AsIntImm(op->b) : nullptr;
    int64_t multiple;
    if (m && *m > 0 && !__builtin_mul_overflow(*m, t.coefficient, &multiple) && multiple % c == 0) {
      r.AddScaled(ToLinear(op->a), t.coefficient);  // (y % m) * k = y * k modulo c, as c divides m * k
      opened = true;
    } else {
      r.Add(t.term, t.coefficient % c);
    }
  }
  r.constant = ir::FloorMod(r.constant + x.constant, c);
  if (opened) return Modulo(r, c);
  ConstInterval bounds = context_.BoundsOf(r);
  if (bounds.finite() && ir::FloorDiv(bounds.min, c) == ir::FloorDiv(bounds.max, c)) {
    r.constant -= c * ir::FloorDiv(bounds.min, c);
    return r;
  }
  for (int64_t g : Factors(r, c)) {
    Linear a, b;
    if (!SplitByFactor(context_, r, g, &a, &b)) continue;
    b.AddScaled(Modulo(a, c / g), g);
    return b;
  }
  Linear result;
  result.Add(Rebuild(r) % Expr(c), 1);
  return result;
}

Expr Rewriter::MinMax(ExprKind kind, const Expr& a, const Expr& b) {
  Linear difference = ToLinear(a);
  difference.AddScaled(ToLinear(b), -1);
  Linear negated;
  negated.AddScaled(difference, -1);
  bool is_min = kind == ExprKind::kMin;
  if (context_.ProveNonNegative(negated)) return is_min ? a : b;
  if (context_.ProveNonNegative(difference)) return is_min ? b : a;
  if (AsIntImm(a)) return MakeBinary(kind, b, a);  // the constant last
  if (const auto* inner = a.as<Binary>(); inner && inner->kind == kind && AsIntImm(inner->b) && AsIntImm(b)) {
    return MakeBinary(kind, inner->a, MakeBinary(kind, inner->b, b));
  }
  return MakeBinary(kind, a, b);
}

Expr Rewriter::Compare(ExprKind kind, const Expr& a, const Expr& b) {
  if (kind == ExprKind::kGt) return Compare(ExprKind::kLt, b, a);
  if (kind == ExprKind::kGe) return Compare(ExprKind::kLe, b, a);
  Linear d = ToLinear(a);  // now the question is d == 0 or d < 0
  d.AddScaled(ToLinear(b), -1);
  if (kind == ExprKind::kLe) d.constant -= 1;
  bool order = kind == ExprKind::kLt || kind == ExprKind::kLe;

  int64_t g = 0;
  for (const Linear::Term& t : d.terms) g = std::gcd(g, t.coefficient);
  if (g > 1) {
    if (!order && d.constant % g != 0) return ir::MakeInt(DType::Bool(), kind == ExprKind::kNe);
    Linear reduced;
    for (const Linear::Term& t : d.terms) reduced.Add(t.term, t.coefficient / g);
    reduced.constant = ir::FloorDiv(d.constant, g);  // g*S + k < 0 exactly if S + floor(k/g) < 0
    d = std::move(reduced);
  }
  Linear negative;  // -d - 1 >= 0 exactly if d < 0
  negative.AddScaled(d, -1);
  negative.constant -= 1;
  bool below = context_.ProveNonNegative(negative);
  if (order) {
    if (below) return ir::MakeInt(DType::Bool(), 1);
    if (context_.ProveNonNegative(d)) return ir::MakeInt(DType::Bool(), 0);
  } else {
    if (d.IsConstant()) return ir::MakeInt(DType::Bool(), (d.constant == 0) == (kind == ExprKind::kEq));
    Linear positive = d;
    positive.constant -= 1;
    if (below || context_.ProveNonNegative(positive)) return ir::MakeInt(DType::Bool(), kind == ExprKind::kNe);
  }
  // Added terms go left, subtracted ones right; the constant goes to an empty side.
  Linear left, right;
  for (const Linear::Term& t : d.terms) {
    if (t.coefficient > 0) left.Add(t.term, t.coefficient);
    if (t.coefficient < 0) right.Add(t.term, -t.coefficient);
  }
  if (!order && left.terms.empty()) std::swap(left, right), d.constant = -d.constant;
  if (left.terms.empty()) {
    left.constant = d.constant;
  } else {
    right.constant = -d.constant;
  }
  return MakeBinary(order ? ExprKind::kLt : kind, Rebuild(left), Rebuild(right));
}

Expr Rewriter::Index(const Binary& op) {
  switch (op.kind) {
    case ExprKind::kAdd:
    case ExprKind::kSub:
    case ExprKind::kMul:
      return Rebuild(Simplified(Same(op)));
    case ExprKind::kDiv:
    case ExprKind::kMod: {
      Expr b = Mutate(op.b);
      const int64_t* c = AsIntImm(b);
      if (c && *c > 0) {
        Linear a = Simplified(op.a);
        MergeDivMod(&a);
        return Rebuild(op.kind == ExprKind::kDiv ? Divide(a, *c) : Modulo(a, *c));
      }
      return MakeBinary(op.kind, Mutate(op.a), b);
    }
    case ExprKind::kShiftLeft:
    case ExprKind::kShiftRight: {
      Expr a = Mutate(op.a), b = Mutate(op.b);
      const int64_t* by = AsIntImm(b);
      if (!by || *by < 0 || *by > 62) return MakeBinary(op.kind, a, b);
      const Expr factor(int64_t{1} << *by);
      return Mutate(op.kind == ExprKind::kShiftLeft ? a * factor : a / factor);
    }
    case ExprKind::kMin:
    case ExprKind::kMax:
      return MinMax(op.kind, Mutate(op.a), Mutate(op.b));
    default:
      return Compare(op.kind, Mutate(op.a), Mutate(op.b));
  }
}

}  // namespace hone::arith
