#include "codegen/c_source/index_facts.h"

#include <numeric>

namespace hone::codegen {

using arith::ConstInterval;
using ir::Expr;
using ir::ExprKind;

namespace {

constexpr int64_t kZeroDivisor = int64_t{1} << 30;

ConstInterval OfType(DType type) {
  if (type.is_bool()) return {0, 1};
  if (!type.is_int() && !type.is_uint()) return {};
  if (type.bits >= 64) return {};
  if (type.is_uint()) return {0, (int64_t{1} << type.bits) - 1};
  const int64_t half = int64_t{1} << (type.bits - 1);
  return {-half, half - 1};
}

int64_t Gcd(int64_t a, int64_t b) { return std::gcd(a, b); }

}  // namespace

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
  const ConstInterval type = OfType(e.type());
  const bool infinite = !type.finite() && !fact.range.finite();
  if (infinite || fact.range.min < type.min || fact.range.max > type.max) fact = {type, 1, true};
  return known_.emplace(e.get(), Known{e, fact}).first->second.fact;
}

IndexFacts::Fact IndexFacts::Compute(const Expr& e) {
  const Fact unknown{OfType(e.type()), 1};
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
  if (auto* select = e.as<ir::Select>()) {
    const Fact a = Of(select->if_true), b = Of(select->if_false);
    return {arith::Union(a.range, b.range), Gcd(a.divisor, b.divisor)};
  }
  if (auto* call = e.as<ir::Call>(); call && call->fn == ir::Intrinsic::kIfThenElse) {
    const Fact a = Of(call->args[1]), b = Of(call->args[2]);
    return {arith::Union(a.range, b.range), Gcd(a.divisor, b.divisor)};
  }
  auto* binary = e.as<ir::Binary>();
  if (binary && binary->a.type().is_scalar() && !binary->a.type().is_float()) return OfBinary(*binary);
  return unknown;
}

IndexFacts::Fact IndexFacts::OfBinary(const ir::Binary& e) {
  const Fact a = Of(e.a), b = Of(e.b);
  const int64_t* constant = ir::AsIntImm(e.b);
  switch (e.kind) {
    case ExprKind::kAdd:
      return {a.range + b.range, Gcd(a.divisor, b.divisor)};
    case ExprKind::kSub:
      return {a.range + b.range * ConstInterval::Point(-1), Gcd(a.divisor, b.divisor)};
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
      return {arith::ModBy(a.range, *constant), Gcd(a.divisor, *constant)};
    case ExprKind::kMin:
      return {{std::min(a.range.min, b.range.min), std::min(a.range.max, b.range.max)}, Gcd(a.divisor, b.divisor)};
    case ExprKind::kMax:
      return {{std::max(a.range.min, b.range.min), std::max(a.range.max, b.range.max)}, Gcd(a.divisor, b.divisor)};
    default:
      return {{0, 1}, 1};  // a comparison
  }
}

}  // namespace hone::codegen
