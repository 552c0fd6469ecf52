#include "codegen/c_source/index_facts.h"

#include <numeric>

namespace hone::codegen {

using arith::ConstInterval;
using ir::Expr;
using ir::ExprKind;

constexpr int64_t kZeroDivisor = int64_t{1} << 30;

void IndexFacts::Bind(const ir::VarNode* var, ConstInterval range, int64_t divisor) {
  vars_[var] = {range, divisor};
  known_.clear();
}

ConstInterval IndexFacts::RangeOf(const Expr& e) { return Of(e).range; }
int64_t IndexFacts::DivisorOf(const Expr& e) { return Of(e).divisor; }
bool IndexFacts::MayWrap(const Expr& e) { return Of(e).wraps; }

const IndexFacts::Fact& IndexFacts::Of(const Expr& e) {
  auto it = known_.find(e.get());
  if (it != known_.end()) return it->second.fact;
  Fact fact = Compute(e);
  const ConstInterval type = arith::RangeOfType(e.type());
  const bool infinite = !type.finite() && !fact.range.finite();
  if (infinite || fact.range.min < type.min || fact.range.max > type.max) fact = {type, 1, true};
  return known_.emplace(e.get(), Known{e, fact}).first->second.fact;
}

IndexFacts::Fact IndexFacts::Compute(const Expr& e) {
  const Fact unknown{arith::RangeOfType(e.type()), 1};
  if (auto* imm = e.as<ir::IntImm>()) {
    if (imm->value == INT64_MIN || imm->value == INT64_MAX) return unknown;
    return {ConstInterval::Point(imm->value), imm->value == 0 ? kZeroDivisor : std::abs(imm->value)};
  }
  if (e.kind() == ExprKind::kVar) {
    auto it = vars_.find(e.as<ir::VarNode>());
    return it == vars_.end() ? unknown : it->second;
  }
  if (auto* cast = e.as<ir::Cast>()) {
    const DType from = cast->value.type();
    return from.is_float() || from.is_handle() || !from.is_scalar() ? unknown : Of(cast->value);
  }
  const auto either = [&](const Expr& x, const Expr& y) {
    const Fact a = Of(x), b = Of(y);
    return Fact{arith::Union(a.range, b.range), std::gcd(a.divisor, b.divisor)};
  };
  if (auto* select = e.as<ir::Select>()) return either(select->if_true, select->if_false);
  auto* call = e.as<ir::Call>();
  if (call && call->fn == ir::Intrinsic::kIfThenElse) return either(call->args[1], call->args[2]);
  auto* binary = e.as<ir::Binary>();
  if (binary && binary->a.type().is_scalar() && !binary->a.type().is_float()) return OfBinary(*binary);
  return unknown;
}

IndexFacts::Fact IndexFacts::OfBinary(const ir::Binary& e) {
  const Fact a = Of(e.a), b = Of(e.b);
  const int64_t* constant = ir::AsIntImm(e.b);
  switch (e.kind) {
    case ExprKind::kAdd:
      return {a.range + b.range, std::gcd(a.divisor, b.divisor)};
    case ExprKind::kSub:
      return {a.range + b.range * ConstInterval::Point(-1), std::gcd(a.divisor, b.divisor)};
    case ExprKind::kMul: {
      int64_t product = 1;
      const bool good = !__builtin_mul_overflow(a.divisor, b.divisor, &product) && product <= kZeroDivisor;
      return {a.range * b.range, good ? product : a.divisor};
    }
    case ExprKind::kDiv:
      if (!constant || *constant <= 0) return {};
      return {arith::DivBy(a.range, *constant), a.divisor % *constant == 0 ? a.divisor / *constant : 1};
    case ExprKind::kMod:
      if (!constant || *constant <= 0) return {};
      return {arith::ModBy(a.range, *constant), std::gcd(a.divisor, *constant)};
    case ExprKind::kMin:
      return {arith::Min(a.range, b.range), std::gcd(a.divisor, b.divisor)};
    case ExprKind::kMax:
      return {arith::Max(a.range, b.range), std::gcd(a.divisor, b.divisor)};
    case ExprKind::kShiftLeft:
    case ExprKind::kShiftRight:
      return {arith::RangeOfType(e.type), 1};
    default:
      return {{0, 1}, 1};  // a comparison
  }
}

}  // namespace hone::codegen
