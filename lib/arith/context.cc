#include "arith/context.h"

#include <algorithm>
#include <optional>

#include "ir/analysis.h"
#include "ir/walk.h"

namespace hone::arith {

namespace {

bool IsIndex(const Expr& e) { return e.type() == DType::Int(64); }

ConstInterval BinaryBounds(const Context& context, const Binary& op) {
  ConstInterval a = context.BoundsOf(op.a), b = context.BoundsOf(op.b);
  switch (op.kind) {
    case ExprKind::kAdd:
      return a + b;
    case ExprKind::kSub:
      return a + b * ConstInterval::Point(-1);
    case ExprKind::kMul:
      return a * b;
    case ExprKind::kMin:
      return Min(a, b);
    case ExprKind::kMax:
      return Max(a, b);
    case ExprKind::kDiv:
      if (b.min == b.max && b.min > 0) return DivBy(a, b.min);
      return a.min >= 0 && b.min > 0 ? ConstInterval{0, a.max} : ConstInterval{};
    case ExprKind::kMod:
      if (b.min == b.max && b.min > 0) return ModBy(a, b.min);
      return b.min > 0 ? ConstInterval{0, SaturatedAdd(b.max, -1)} : ConstInterval{};
    case ExprKind::kShiftLeft:
      return b.min == b.max && b.min >= 0 && b.min < 63 ? a * ConstInterval::Point(int64_t{1} << b.min)
                                                        : ConstInterval{};
    case ExprKind::kShiftRight:  // by any amount, towards 0 or -1
      if (b.min == b.max && b.min >= 0 && b.min < 63) return DivBy(a, int64_t{1} << b.min);
      return {std::min(a.min, int64_t{0}), std::max(a.max, int64_t{-1})};
    default:
      return {0, 1};
  }
}

const Binary* AsMinMax(const Expr& e) {
  const auto* op = e.as<Binary>();
  return op && (op->kind == ExprKind::kMin || op->kind == ExprKind::kMax) ? op : nullptr;
}

// `linear` with term number `i` replaced.
Linear Replaced(const Linear& linear, size_t i, const Expr& by) {
  Linear result = linear;
  int64_t factor = result.terms[i].coefficient;
  result.terms.erase(result.terms.begin() + static_cast<std::ptrdiff_t>(i));
  result.AddScaled(ToLinear(by), factor);
  return result;
}

ConstInterval PlainBounds(const Context& context, const Linear& linear) {
  ConstInterval sum = ConstInterval::Point(linear.constant);
  for (const Linear::Term& t : linear.terms) sum = sum + context.BoundsOf(t.term) * ConstInterval::Point(t.coefficient);
  return sum;
}

// k*(x/c) - k*(y/c) is within k times [floor(d.min/c), ceil(d.max/c)], where d is the range of x - y, even if x and y
// are unbounded. Takes the first such pair out of `linear` and returns its bounds.
std::optional<ConstInterval> TakeDivPair(const Context& context, Linear* linear) {
  auto& terms = linear->terms;
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto* x = terms[i].term.as<Binary>();
    const int64_t* c = x && x->kind == ExprKind::kDiv ? AsIntImm(x->b) : nullptr;
    if (!c || *c <= 0 || terms[i].coefficient <= 0) continue;
    for (size_t j = 0; j < terms.size(); ++j) {
      const auto* y = terms[j].term.as<Binary>();
      if (terms[j].coefficient != -terms[i].coefficient || !y || y->kind != ExprKind::kDiv || !Equal(x->b, y->b))
        continue;
      Linear difference = ToLinear(x->a);
      difference.AddScaled(ToLinear(y->a), -1);
      ConstInterval d = PlainBounds(context, difference);
      ConstInterval q = DivBy(d, *c);
      if (d.max != ConstInterval::kPlusInf && ir::FloorMod(d.max, *c) != 0) ++q.max;
      q = q * ConstInterval::Point(terms[i].coefficient);
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
      terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
      return q;
    }
  }
  return std::nullopt;
}

// Bounds that use the terms which `linear` shares with the operands of a min or max in it: o*14 + min(14, 57 - o*14) <=
// 57.
ConstInterval DistributedBounds(const Context& context, const Linear& linear, int budget) {
  ConstInterval bounds = PlainBounds(context, linear);
  if (linear.terms.size() < 2) return bounds;
  Linear rest = linear;
  if (auto pair = TakeDivPair(context, &rest)) bounds = Intersect(bounds, *pair + PlainBounds(context, rest));
  if (budget == 0) return bounds;
  for (size_t i = 0; i < linear.terms.size(); ++i) {
    const Binary* op = AsMinMax(linear.terms[i].term);
    if (!op) continue;
    ConstInterval a = DistributedBounds(context, Replaced(linear, i, op->a), budget - 1);
    ConstInterval b = DistributedBounds(context, Replaced(linear, i, op->b), budget - 1);
    bool smaller = (op->kind == ExprKind::kMin) == (linear.terms[i].coefficient > 0);
    return Intersect(bounds, smaller ? Min(a, b) : Max(a, b));
  }
  return bounds;
}

// The operands of a tree of `kind`; `e` itself if it is not such a tree.
void Alternatives(const Expr& e, ExprKind kind, std::vector<Expr>* out) {
  const auto* op = e.as<Binary>();
  if (!op || op->kind != kind) return out->push_back(e);
  Alternatives(op->a, kind, out);
  Alternatives(op->b, kind, out);
}

}  // namespace

const Context::Binding* Context::Find(const ir::VarNode* var) const {
  auto it = bindings.find(var);
  return it == bindings.end() ? nullptr : &it->second;
}

int Context::DepthOf(const Expr& e) const {
  int depth = 0;
  const auto look_at = [&](const ir::VarNode& var) {
    if (const Binding* binding = Find(&var)) depth = std::max(depth, binding->depth);
  };
  ir::Walk(e, ir::Overloaded{look_at, [](const auto&) {}});
  return depth;
}

ConstInterval Context::BoundsOf(const Expr& e) const {
  ConstInterval whole = RangeOfType(e.type());
  switch (e.kind()) {
    case ExprKind::kIntImm:
      return ConstInterval::Point(e.as<ir::IntImm>()->value);
    case ExprKind::kVar: {
      const Binding* binding = Find(e.as<ir::VarNode>());
      return binding ? binding->bounds : whole;
    }
    case ExprKind::kCast: {
      // Sound only if the value fits both types and so passes unchanged.
      const Expr& value = e.as<ir::Cast>()->value;
      if (value.type().is_float() || value.type().is_handle()) return whole;
      ConstInterval inner = BoundsOf(value);
      return inner.min >= whole.min && inner.max <= whole.max && inner.finite() ? inner : whole;
    }
    case ExprKind::kSelect:
      return Union(BoundsOf(e.as<ir::Select>()->if_true), BoundsOf(e.as<ir::Select>()->if_false));
    case ExprKind::kBroadcast:
      return BoundsOf(e.as<ir::Broadcast>()->value);
    case ExprKind::kRamp: {
      const auto* ramp = e.as<ir::Ramp>();
      return BoundsOf(ramp->base) + BoundsOf(ramp->stride) * ConstInterval{0, ramp->type.lanes - 1};
    }
    case ExprKind::kCall: {
      const auto* call = e.as<ir::Call>();
      if (call->fn != ir::Intrinsic::kIfThenElse) return whole;
      return Union(BoundsOf(call->args[1]), BoundsOf(call->args[2]));
    }
    default:
      break;
  }
  const auto* op = e.as<Binary>();
  if (!op) return whole;
  if (IsIndex(e) && (op->kind == ExprKind::kAdd || op->kind == ExprKind::kSub)) return BoundsOf(ToLinear(e));
  if (op->type.element() == DType::Int(64) || op->type.is_bool()) return BinaryBounds(*this, *op);
  // Narrower types may wrap.
  ConstInterval bounds = BinaryBounds(*this, *op);
  return bounds.min >= whole.min && bounds.max <= whole.max ? bounds : whole;
}

ConstInterval Context::BoundsOf(const Linear& linear) const { return DistributedBounds(*this, linear, 2); }

bool Context::ProveNonNegative(const Linear& linear, int effort) const {
  if (BoundsOf(linear).min >= 0) return true;
  for (const Linear& fact : facts) {
    Linear difference = linear;
    difference.AddScaled(fact, -1);
    if (BoundsOf(difference).min >= 0) return true;
  }
  if (effort == 0) return false;
  for (size_t i = 0; i < linear.terms.size(); ++i) {
    const Binary* op = AsMinMax(linear.terms[i].term);
    if (!op) continue;
    bool a = ProveNonNegative(Replaced(linear, i, op->a), effort - 1);
    bool need_both = (op->kind == ExprKind::kMin) == (linear.terms[i].coefficient > 0);
    if (a != need_both) return a;
    return ProveNonNegative(Replaced(linear, i, op->b), effort - 1);
  }
  // The worst case of the innermost variable with symbolic ends is at one of them.
  int best = -1, best_depth = 0;
  for (size_t i = 0; i < linear.terms.size(); ++i) {
    const auto* var = linear.terms[i].term.as<ir::VarNode>();
    const Binding* binding = var ? Find(var) : nullptr;
    if (binding && binding->symbolic && binding->depth > best_depth)
      best = static_cast<int>(i), best_depth = binding->depth;
  }
  if (best < 0) return false;
  const Linear::Term& t = linear.terms[static_cast<size_t>(best)];
  const Binding* binding = Find(t.term.as<ir::VarNode>());
  std::vector<Expr> ends;
  Alternatives(t.coefficient > 0 ? binding->min : binding->max, t.coefficient > 0 ? ExprKind::kMax : ExprKind::kMin,
               &ends);
  return std::any_of(ends.begin(), ends.end(), [&](const Expr& end) {
    return ProveNonNegative(Replaced(linear, static_cast<size_t>(best), end), effort - 1);
  });
}

void Context::AssumeNonNegative(const Linear& linear) {
  facts.push_back(linear);
  if (linear.terms.size() != 1) return;
  const auto* var = linear.terms[0].term.as<ir::VarNode>();
  auto it = var ? bindings.find(var) : bindings.end();
  if (it == bindings.end()) return;
  // c*v + k >= 0: v >= ceil(-k/c) or v <= floor(k/-c).
  int64_t c = linear.terms[0].coefficient, k = linear.constant;
  ConstInterval before = it->second.bounds, after = before;
  if (c > 0) {
    after.min = std::max(after.min, -ir::FloorDiv(k, c));
  } else {
    after.max = std::min(after.max, ir::FloorDiv(k, -c));
  }
  if (after == before || after.min > after.max) return;  // ignore an assumption that is impossible or adds nothing
  frames.back().narrowed.push_back({var, before});
  it->second.bounds = after;
}

void Context::Assume(const Expr& condition) {
  const auto* op = condition.as<Binary>();
  if (!op || !op->type.is_scalar()) return;
  if (op->kind == ExprKind::kAnd) {
    Assume(op->a);
    Assume(op->b);
    return;
  }
  if (!ir::IsComparison(op->kind) || !IsIndex(op->a) || op->kind == ExprKind::kNe) return;
  Linear difference = ToLinear(op->b);  // b - a
  difference.AddScaled(ToLinear(op->a), -1);
  Linear negated;
  negated.AddScaled(difference, -1);
  if (op->kind == ExprKind::kLt) difference.constant -= 1;
  if (op->kind == ExprKind::kGt) negated.constant -= 1;
  if (op->kind != ExprKind::kGt && op->kind != ExprKind::kGe) AssumeNonNegative(difference);
  if (op->kind != ExprKind::kLt && op->kind != ExprKind::kLe) AssumeNonNegative(negated);
}

}  // namespace hone::arith
