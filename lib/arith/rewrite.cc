#include "arith/rewrite.h"

#include "ir/analysis.h"

namespace hone::arith {

using ir::Broadcast;
using ir::Call;
using ir::Intrinsic;
using ir::Ramp;

namespace {

bool IsIndexScalar(const Expr& e) { return e.type() == DType::Int(64); }
bool IsInteger(DType t) { return t.is_int() || t.is_uint(); }

bool IsFloat(const Expr& e, double value) {
  const auto* f = e.as<ir::FloatImm>();
  return f && f->value == value;
}

bool IsInt(const Expr& e, int64_t value) {
  const int64_t* i = AsIntImm(e);
  return i && *i == value;
}

// The scalar of a Broadcast, else null.
Expr Uniform(const Expr& e) {
  const auto* b = e.as<Broadcast>();
  return b ? b->value : Expr();
}

}  // namespace

Expr Rewriter::MutateVar(const ir::VarNode& op) {
  const auto* binding = context_.Find(&op);
  if (!binding) return Same(op);
  if (binding->value.defined()) return binding->value;
  if (op.type == DType::Int(64) && binding->bounds.min == binding->bounds.max) return Expr(binding->bounds.min);
  return Same(op);
}

Expr Rewriter::MutateBinary(const Binary& op) {
  Expr result;
  if (IsIndexScalar(op.a)) {
    result = Index(op);
  } else {
    Expr a = Mutate(op.a), b = Mutate(op.b);
    result = op.type.is_vector() ? Vector(op.kind, a, b) : Data(op.kind, a, b);
    if (!result.defined()) {
      if (a.same_as(op.a) && b.same_as(op.b)) return Same(op);
      result = MakeBinary(op.kind, a, b);
    }
  }
  return Equal(result, Same(op)) ? Same(op) : result;
}

// Exact identities only: x + 0.0 is not one (it turns -0.0 into 0.0).
Expr Rewriter::Data(ExprKind kind, const Expr& a, const Expr& b) {
  DType type = a.type();
  if (type.is_bool()) {
    for (const auto& [x, y] : {std::pair(a, b), std::pair(b, a)}) {
      if (!AsIntImm(x)) continue;
      bool value = *AsIntImm(x);
      if (kind == ExprKind::kAnd) return value ? y : x;
      if (kind == ExprKind::kOr) return value ? x : y;
    }
    if ((kind == ExprKind::kAnd || kind == ExprKind::kOr) && Equal(a, b)) return a;
    return Expr();
  }
  if (type.is_float()) {
    if (kind == ExprKind::kMul && IsFloat(b, 1)) return a;
    if (kind == ExprKind::kMul && IsFloat(a, 1)) return b;
    if (kind == ExprKind::kDiv && IsFloat(b, 1)) return a;
    return Expr();
  }
  if (!IsInteger(type)) return Expr();
  // Comparing the operands walks both trees: do it only where it decides.
  if (IsComparison(kind)) {
    const bool holds = kind == ExprKind::kEq || kind == ExprKind::kLe || kind == ExprKind::kGe;
    return Equal(a, b) ? ir::MakeInt(DType::Bool(), holds) : Expr();
  }
  switch (kind) {
    case ExprKind::kMin:
    case ExprKind::kMax:
      return Equal(a, b) ? a : Expr();
    case ExprKind::kAdd:
      return IsInt(a, 0) ? b : IsInt(b, 0) ? a : Expr();
    case ExprKind::kSub:
      return IsInt(b, 0) ? a : Equal(a, b) ? ir::MakeInt(type, 0) : Expr();
    case ExprKind::kMul:
      return IsInt(a, 0) || IsInt(b, 1) ? a : IsInt(b, 0) || IsInt(a, 1) ? b : Expr();
    case ExprKind::kDiv:
      return IsInt(b, 1) ? a : Expr();
    case ExprKind::kMod:
      return IsInt(b, 1) ? ir::MakeInt(type, 0) : Expr();
    case ExprKind::kShiftLeft:
    case ExprKind::kShiftRight:
      return IsInt(b, 0) ? a : Expr();
    default:
      return Expr();
  }
}

Expr Rewriter::Vector(ExprKind kind, const Expr& a, const Expr& b) {
  Expr x = Uniform(a), y = Uniform(b);
  if (x.defined() && y.defined()) return ir::MakeBroadcast(Mutate(MakeBinary(kind, x, y)), a.type().lanes);
  if (a.type().element() == DType::Int(64)) return IndexVector(kind, a, b);
  // Rules for scalars hold lane by lane if one side is uniform.
  if (x.defined() && (AsIntImm(x) || x.as<ir::FloatImm>())) {
    if (kind == ExprKind::kMul && (IsFloat(x, 1) || (IsInteger(x.type()) && IsInt(x, 1)))) return b;
    if (kind == ExprKind::kAdd && IsInteger(x.type()) && IsInt(x, 0)) return b;
    if (kind == ExprKind::kAnd) return IsInt(x, 1) ? b : a;
    if (kind == ExprKind::kOr) return IsInt(x, 1) ? a : b;
  }
  if (y.defined() && (AsIntImm(y) || y.as<ir::FloatImm>())) {
    bool one = IsFloat(y, 1) || (IsInteger(y.type()) && IsInt(y, 1));
    if ((kind == ExprKind::kMul || kind == ExprKind::kDiv) && one) return a;
    const bool zero = IsInteger(y.type()) && IsInt(y, 0);
    if (zero && (kind == ExprKind::kAdd || kind == ExprKind::kSub || ir::IsShift(kind))) return a;
    if (kind == ExprKind::kAnd) return IsInt(y, 1) ? a : b;
    if (kind == ExprKind::kOr) return IsInt(y, 1) ? b : a;
  }
  return Expr();
}

// Vectors of i64; keeps ramps as ramps.
Expr Rewriter::IndexVector(ExprKind kind, const Expr& a, const Expr& b) {
  int lanes = a.type().lanes;
  const auto *ra = a.as<Ramp>(), *rb = b.as<Ramp>();
  Expr ua = Uniform(a), ub = Uniform(b);
  auto ramp = [&](const Expr& base, const Expr& stride) {
    Expr s = Mutate(stride);
    Expr start = Mutate(base);
    return IsInt(s, 0) ? ir::MakeBroadcast(start, lanes) : MakeRamp(start, s, lanes);
  };
  bool both = (ra || ua.defined()) && (rb || ub.defined());
  Expr base_a = ra ? ra->base : ua, base_b = rb ? rb->base : ub;
  Expr stride_a = ra ? ra->stride : Expr(0), stride_b = rb ? rb->stride : Expr(0);
  if (both && kind == ExprKind::kAdd) return ramp(base_a + base_b, stride_a + stride_b);
  if (both && kind == ExprKind::kSub) return ramp(base_a - base_b, stride_a - stride_b);
  if (ra && ub.defined() && kind == ExprKind::kMul) return ramp(ra->base * ub, ra->stride * ub);
  if (ua.defined() && rb && kind == ExprKind::kMul) return ramp(rb->base * ua, rb->stride * ua);
  if (ra && ub.defined() && (kind == ExprKind::kDiv || kind == ExprKind::kMod)) {
    const int64_t *c = AsIntImm(ub), *s = AsIntImm(ra->stride);
    if (!c || *c <= 0 || !s) return Expr();
    bool div = kind == ExprKind::kDiv;
    if (*s % *c == 0) return div ? ramp(ra->base / ub, Expr(*s / *c)) : ramp(ra->base % ub, Expr(0));
    // If all lanes are in one period of c, the quotient is uniform and the remainder a ramp.
    Expr rest = Mutate(ra->base % ub);
    ConstInterval bounds = context_.BoundsOf(rest);
    ConstInterval last = bounds + ConstInterval::Point(*s * (lanes - 1));
    if (std::min(bounds.min, last.min) >= 0 && std::max(bounds.max, last.max) < *c) {
      return div ? ramp(ra->base / ub, Expr(0)) : ramp(rest, ra->stride);
    }
    return Expr();
  }
  if (!both || kind < ExprKind::kMin || kind > ExprKind::kGe) return Expr();
  // A comparison with the same result in the first and the last lane has that result in all lanes.
  Expr first = base_a - base_b;
  Expr last = first + (stride_a - stride_b) * Expr(lanes - 1);
  Linear low = ToLinear(Mutate(first)), high = ToLinear(Mutate(last));
  auto always = [&](int64_t sign, int64_t offset) {  // whether sign * (a - b) + offset >= 0 in all lanes
    Linear x, y;
    x.AddScaled(low, sign), y.AddScaled(high, sign);
    x.constant += offset, y.constant += offset;
    return context_.ProveNonNegative(x) && context_.ProveNonNegative(y);
  };
  // True in all lanes, false in all, or unknown. Tries the second proof only if the first fails.
  auto truth = [&](auto&& yes, auto&& no) {
    const bool certain = yes();
    return certain || no() ? ir::MakeInt(DType::Bool(lanes), certain) : Expr();
  };
  auto compare = [&](int64_t sign, int64_t offset, int64_t no_sign, int64_t no_offset) {
    return truth([&] { return always(sign, offset); }, [&] { return always(no_sign, no_offset); });
  };
  switch (kind) {
    case ExprKind::kMin:
      return always(-1, 0) ? a : always(1, 0) ? b : Expr();
    case ExprKind::kMax:
      return always(1, 0) ? a : always(-1, 0) ? b : Expr();
    case ExprKind::kLt:
      return compare(-1, -1, 1, 0);
    case ExprKind::kLe:
      return compare(-1, 0, 1, -1);
    case ExprKind::kGt:
      return compare(1, -1, -1, 0);
    case ExprKind::kGe:
      return compare(1, 0, -1, -1);
    default:  // kEq, kNe
      break;
  }
  auto differ = [&] { return always(1, -1) || always(-1, -1); };
  auto equal = [&] { return always(1, 0) && always(-1, 0); };
  return kind == ExprKind::kEq ? truth(equal, differ) : truth(differ, equal);
}

Expr Rewriter::MutateCast(const ir::Cast& op) {
  Expr value = Mutate(op.value);
  if (Expr scalar = Uniform(value); scalar.defined()) {
    return ir::MakeBroadcast(MakeCast(op.type.element(), scalar), op.type.lanes);
  }
  return value.same_as(op.value) ? Same(op) : MakeCast(op.type, value);
}

Expr Rewriter::MutateNot(const ir::Not& op) {
  Expr a = Mutate(op.a);
  if (Expr scalar = Uniform(a); scalar.defined()) return ir::MakeBroadcast(Mutate(ir::MakeNot(scalar)), op.type.lanes);
  if (const auto* inner = a.as<ir::Not>()) return inner->a;
  if (const auto* compare = a.as<Binary>()) {
    const Expr &x = compare->a, &y = compare->b;
    if (compare->kind == ExprKind::kEq) return Mutate(Ne(x, y));
    if (compare->kind == ExprKind::kNe) return Mutate(Eq(x, y));
    // Not for floats: with NaN, neither x < y nor x >= y holds.
    if (compare->kind == ExprKind::kLt && IsIndexScalar(x)) return Mutate(x >= y);
    if (compare->kind == ExprKind::kAnd || compare->kind == ExprKind::kOr) {
      Expr not_x = Mutate(ir::MakeNot(x)), not_y = Mutate(ir::MakeNot(y));
      if (!not_x.as<ir::Not>() && !not_y.as<ir::Not>()) {
        return Mutate(compare->kind == ExprKind::kAnd ? not_x || not_y : not_x && not_y);
      }
    }
  }
  return a.same_as(op.a) ? Same(op) : ir::MakeNot(a);
}

Expr Rewriter::MutateSelect(const ir::Select& op) {
  Expr c = Mutate(op.condition), t = Mutate(op.if_true), f = Mutate(op.if_false);
  if (Equal(t, f)) return t;
  if (c.same_as(op.condition) && t.same_as(op.if_true) && f.same_as(op.if_false)) return Same(op);
  return MakeSelect(c, t, f);
}

Expr Rewriter::MutateLoad(const ir::Load& op) {
  Expr index = Mutate(op.index);
  if (Expr scalar = Uniform(index); scalar.defined())
    return ir::MakeBroadcast(MakeLoad(op.buffer, scalar), op.type.lanes);
  return index.same_as(op.index) ? Same(op) : MakeLoad(op.buffer, index);
}

Expr Rewriter::MutateRamp(const Ramp& op) {
  Expr base = Mutate(op.base), stride = Mutate(op.stride);
  if (IsInt(stride, 0)) return ir::MakeBroadcast(base, op.type.lanes);
  return base.same_as(op.base) && stride.same_as(op.stride) ? Same(op) : MakeRamp(base, stride, op.type.lanes);
}

Expr Rewriter::MutateCall(const Call& op) {
  if (op.fn != Intrinsic::kIfThenElse) {
    bool changed = false, uniform = op.type.is_vector();
    std::vector<Expr> args = MutateAll(op.args, &changed), scalars;
    for (const Expr& a : args) {
      scalars.push_back(Uniform(a));
      uniform = uniform && scalars.back().defined();
    }
    if (uniform) return ir::MakeBroadcast(MakeCall(op.type.element(), op.fn, scalars), op.type.lanes);
    return changed ? MakeCall(op.type, op.fn, args) : Same(op);
  }
  Expr c = Mutate(op.args[0]);
  if (const int64_t* value = AsIntImm(c)) return Mutate(op.args[*value ? 1 : 2]);
  // Only the chosen side is evaluated, so each may rely on the condition.
  auto under = [&](const Expr& condition, const Expr& e) {
    context_.Push(condition);
    Expr result = Mutate(e);
    context_.Pop();
    return result;
  };
  Expr t = under(c, op.args[1]);
  Expr f = under(Mutate(ir::MakeNot(c)), op.args[2]);
  if (Equal(t, f)) return t;
  if (c.same_as(op.args[0]) && t.same_as(op.args[1]) && f.same_as(op.args[2])) return Same(op);
  return MakeIfThenElse(c, t, f);
}

}  // namespace hone::arith
