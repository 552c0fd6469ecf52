#include "ir/expr.h"

#include "base/check.h"
#include "ir/scalar.h"

namespace hone::ir {
namespace {

bool IsInteger(DType t) { return t.is_int() || t.is_uint() || t.is_bool(); }

const Expr& StripBroadcast(const Expr& e) {
  const auto* b = e.as<Broadcast>();
  return b ? b->value : e;
}

// An IntImm (or one broadcast) follows the type of the other side.
Expr AdaptImm(const Expr& imm, DType element) {
  const int64_t value = StripBroadcast(imm).as<IntImm>()->value;
  Expr scalar = element.is_float() ? Imm(element, static_cast<double>(value)) : MakeInt(element, value);
  return MakeBroadcast(scalar, imm.type().lanes);
}

// Converts both operands to one type, as the makers promise.
void Unify(Expr* a, Expr* b) {
  HONE_CHECK(a->defined() && b->defined());
  if (a->type().element() != b->type().element()) {
    bool a_imm = StripBroadcast(*a).as<IntImm>(), b_imm = StripBroadcast(*b).as<IntImm>();
    // If both are immediates, the i64 one is converted: a plain C++ integer becomes i64.
    if (b_imm && !(a_imm && a->type().element() == DType::Int(64))) {
      *b = AdaptImm(*b, a->type().element());
    } else if (a_imm) {
      *a = AdaptImm(*a, b->type().element());
    }
  }
  if (a->type().lanes != b->type().lanes) {
    HONE_CHECK(a->type().is_scalar() || b->type().is_scalar());
    if (a->type().is_scalar()) *a = MakeBroadcast(*a, b->type().lanes);
    if (b->type().is_scalar()) *b = MakeBroadcast(*b, a->type().lanes);
  }
  HONE_CHECK(a->type() == b->type());
}

Expr Fold(ExprKind kind, const Expr& a, const Expr& b) {
  DType type = a.type();
  if (const auto* x = a.as<IntImm>(), *y = b.as<IntImm>(); x && y) {
    if ((kind == ExprKind::kDiv || kind == ExprKind::kMod) && y->value == 0) return Expr();  // left for the verifier
    if (IsShift(kind) && (y->value < 0 || y->value >= type.bits)) return Expr();
    int64_t value = EvalInt(kind, type, x->value, y->value);
    return MakeInt(IsArithmetic(kind) ? type : DType::Bool(), value);
  }
  if (const auto* x = a.as<FloatImm>(), *y = b.as<FloatImm>(); x && y) {
    if (IsComparison(kind)) return MakeInt(DType::Bool(), CompareFloat(kind, x->value, y->value));
    if (kind != ExprKind::kMod) return Expr(new FloatImm(type, EvalFloat(kind, type, x->value, y->value)));
  }
  return Expr();
}

}  // namespace

Expr::Expr(int value) : Handle(new IntImm(DType::Int(64), value)) {}
Expr::Expr(int64_t value) : Handle(new IntImm(DType::Int(64), value)) {}

Buffer Buffer::Make(std::string name, DType type, int64_t size, Scope scope, bool written) {
  HONE_CHECK(type.is_scalar());
  return Buffer(new BufferNode{std::move(name), type, size, scope, written});
}

Expr MakeInt(DType type, int64_t value) {
  HONE_CHECK(IsInteger(type));
  return MakeBroadcast(Expr(new IntImm(type.element(), WrapInt(type.element(), value))), type.lanes);
}

Expr Imm(DType type, double value) {
  if (IsInteger(type)) return MakeInt(type, static_cast<int64_t>(value));
  HONE_CHECK(type.is_float());
  return MakeBroadcast(Expr(new FloatImm(type.element(), RoundFloat(type.element(), value))), type.lanes);
}

Expr MakeBinary(ExprKind kind, Expr a, Expr b) {
  HONE_CHECK(Binary::Is(kind));
  Unify(&a, &b);
  DType type = a.type();
  if (IsLogical(kind)) HONE_CHECK(type.is_bool());
  if (IsArithmetic(kind)) HONE_CHECK(!type.is_bool() && !type.is_handle());
  if (kind == ExprKind::kMod || IsShift(kind)) HONE_CHECK(!type.is_float());
  if (Expr folded = Fold(kind, a, b); folded.defined()) return folded;
  DType result = IsArithmetic(kind) ? type : DType::Bool(type.lanes);
  return Expr(new Binary(kind, result, std::move(a), std::move(b)));
}

Expr MakeCast(DType type, Expr value) {
  DType from = value.type();
  if (from.is_scalar() && type.is_vector())
    return MakeBroadcast(MakeCast(type.element(), std::move(value)), type.lanes);
  HONE_CHECK(from.lanes == type.lanes);
  if (from == type) return value;
  if (const auto* i = value.as<IntImm>()) {
    if (type.is_float()) return Expr(new FloatImm(type, CastIntToFloat(from, type, i->value)));
    if (IsInteger(type)) return MakeInt(type, i->value);
  }
  if (const auto* f = value.as<FloatImm>()) {
    if (type.is_float()) return Imm(type, f->value);
    if (IsInteger(type)) return MakeInt(type, CastFloatToInt(type, f->value));
  }
  return Expr(new Cast(type, std::move(value)));
}

Expr MakeNot(Expr a) {
  HONE_CHECK(a.type().is_bool());
  if (const auto* i = a.as<IntImm>()) return MakeInt(a.type(), !i->value);
  return Expr(new Not(std::move(a)));
}

Expr MakeSelect(Expr condition, Expr if_true, Expr if_false) {
  Unify(&if_true, &if_false);
  HONE_CHECK(condition.type().is_bool());
  if (condition.type().is_vector() && if_true.type().is_scalar()) {
    if_true = MakeBroadcast(std::move(if_true), condition.type().lanes);
    if_false = MakeBroadcast(std::move(if_false), condition.type().lanes);
  } else if (condition.type().is_scalar() && if_true.type().is_vector()) {
    condition = MakeBroadcast(std::move(condition), if_true.type().lanes);
  }
  HONE_CHECK(condition.type().lanes == if_true.type().lanes);
  if (const auto* c = StripBroadcast(condition).as<IntImm>()) return c->value ? if_true : if_false;
  return Expr(new Select(std::move(condition), std::move(if_true), std::move(if_false)));
}

Expr MakeLoad(Buffer buffer, Expr index) {
  HONE_CHECK(buffer.defined() && (index.type().is_int() || index.type().is_uint()));
  return Expr(new Load(std::move(buffer), std::move(index)));
}

Expr MakeRamp(Expr base, Expr stride, int lanes) {
  HONE_CHECK(base.type().is_scalar() && base.type() == stride.type() && lanes >= 1);
  if (lanes == 1) return base;
  return Expr(new Ramp(std::move(base), std::move(stride), lanes));
}

Expr MakeBroadcast(Expr value, int lanes) {
  HONE_CHECK(value.defined() && lanes >= 1);
  if (lanes == 1 || value.type().lanes == lanes) return value;
  HONE_CHECK(value.type().is_scalar());
  return Expr(new Broadcast(std::move(value), lanes));
}

Expr MakeCall(DType type, Intrinsic fn, std::vector<Expr> args) {
  for (const Expr& a : args) HONE_CHECK(a.defined());
  HONE_CHECK(args.size() == static_cast<size_t>(IntrinsicArity(fn)));
  return Expr(new Call(type, fn, std::move(args)));
}

Expr MakeIfThenElse(Expr condition, Expr if_true, Expr if_false) {
  Unify(&if_true, &if_false);
  HONE_CHECK(condition.type() == DType::Bool());
  if (const auto* c = condition.as<IntImm>()) return c->value ? if_true : if_false;
  DType type = if_true.type();
  return Expr(new Call(type, Intrinsic::kIfThenElse, {std::move(condition), std::move(if_true), std::move(if_false)}));
}

int IntrinsicArity(Intrinsic fn) {
  switch (fn) {
    case Intrinsic::kPow:
    case Intrinsic::kPrefetch:
      return 2;
    case Intrinsic::kFma:
    case Intrinsic::kIfThenElse:
    case Intrinsic::kMmaTf32:
    case Intrinsic::kDot4:
      return 3;
    default:
      return 1;
  }
}

const int64_t* AsIntImm(const Expr& e) {
  const auto* i = e.as<IntImm>();
  return i ? &i->value : nullptr;
}

}  // namespace hone::ir
