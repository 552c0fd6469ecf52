#include "ir/scalar.h"

#include "base/check.h"

namespace hone::ir {
namespace {

// The width-independent part on unsigned 64-bit values, for which wrapping is defined.
uint64_t Bits(int64_t v) { return static_cast<uint64_t>(v); }

template <typename T>
bool Compare(ExprKind kind, T a, T b) {
  switch (kind) {
    case ExprKind::kEq:
      return a == b;
    case ExprKind::kNe:
      return a != b;
    case ExprKind::kLt:
      return a < b;
    case ExprKind::kLe:
      return a <= b;
    case ExprKind::kGt:
      return a > b;
    case ExprKind::kGe:
      return a >= b;
    default:
      break;
  }
  HONE_CHECK(false && "not a comparison");
  return false;
}

bool CompareInt(ExprKind kind, DType type, int64_t a, int64_t b) {
  return type.is_uint() && type.bits == 64 ? Compare(kind, Bits(a), Bits(b)) : Compare(kind, a, b);
}

}  // namespace

int64_t WrapInt(DType type, int64_t value) {
  if (type.is_bool()) return value != 0;
  if (type.bits >= 64) return value;
  int shift = 64 - type.bits;
  uint64_t up = Bits(value) << shift;
  return type.is_uint() ? static_cast<int64_t>(up >> shift) : static_cast<int64_t>(up) >> shift;
}

double RoundFloat(DType type, double value) {
  if (type.bits == 32) return static_cast<float>(value);
  if (type.bits == 16) return static_cast<double>(static_cast<_Float16>(value));
  return value;
}

int64_t EvalInt(ExprKind kind, DType type, int64_t a, int64_t b) {
  switch (kind) {
    case ExprKind::kAdd:
      return WrapInt(type, static_cast<int64_t>(Bits(a) + Bits(b)));
    case ExprKind::kSub:
      return WrapInt(type, static_cast<int64_t>(Bits(a) - Bits(b)));
    case ExprKind::kMul:
      return WrapInt(type, static_cast<int64_t>(Bits(a) * Bits(b)));
    case ExprKind::kDiv:
      if (type.is_uint()) return static_cast<int64_t>(Bits(a) / Bits(b));
      return WrapInt(type, FloorDiv(a, b));
    case ExprKind::kMod:
      if (type.is_uint()) return static_cast<int64_t>(Bits(a) % Bits(b));
      return WrapInt(type, FloorMod(a, b));
    case ExprKind::kShiftLeft:
      return WrapInt(type, static_cast<int64_t>(Bits(a) << b));
    case ExprKind::kShiftRight:
      return type.is_uint() ? static_cast<int64_t>(Bits(a) >> b) : a >> b;
    case ExprKind::kMin:
      return CompareInt(ExprKind::kLt, type, a, b) ? a : b;
    case ExprKind::kMax:
      return CompareInt(ExprKind::kGt, type, a, b) ? a : b;
    case ExprKind::kAnd:
      return a & b;
    case ExprKind::kOr:
      return a | b;
    default:
      return CompareInt(kind, type, a, b);
  }
}

// Computing in double and rounding once more gives the correctly rounded result for f32 and f16, as 53 >= 2*24 + 2
// (Figueroa, "When is double rounding innocuous?", 1995).
double EvalFloat(ExprKind kind, DType type, double a, double b) {
  switch (kind) {
    case ExprKind::kAdd:
      return RoundFloat(type, a + b);
    case ExprKind::kSub:
      return RoundFloat(type, a - b);
    case ExprKind::kMul:
      return RoundFloat(type, a * b);
    case ExprKind::kDiv:
      return RoundFloat(type, a / b);
    case ExprKind::kMin:
      return a < b ? a : b;
    case ExprKind::kMax:
      return a > b ? a : b;
    default:
      break;
  }
  HONE_CHECK(false && "not an arithmetic kind on floats");
  return 0;
}

bool CompareFloat(ExprKind kind, double a, double b) { return Compare(kind, a, b); }

int64_t CastFloatToInt(DType to, double value) {
  if (to.is_bool()) return value != 0;
  if (!(value == value)) return 0;
  if (to.is_uint() && to.bits == 64 && value >= 9223372036854775808.0) {
    return value >= 18446744073709551616.0 ? -1 : static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  if (value >= 9223372036854775808.0) return WrapInt(to, INT64_MAX);
  if (value < -9223372036854775808.0) return WrapInt(to, INT64_MIN);
  return WrapInt(to, static_cast<int64_t>(value));
}

// Straight to float: going through double would round twice.
double CastIntToFloat(DType from, DType to, int64_t value) {
  bool wide = from.is_uint() && from.bits == 64;
  if (to.bits == 64) return wide ? static_cast<double>(Bits(value)) : static_cast<double>(value);
  float narrow = wide ? static_cast<float>(Bits(value)) : static_cast<float>(value);
  if (to.bits == 32) return narrow;
  // To f16: every integer that f16 can hold within its rounding error is exact in double.
  return RoundFloat(to, wide ? static_cast<double>(Bits(value)) : static_cast<double>(value));
}

}  // namespace hone::ir
