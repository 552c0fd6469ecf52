// Arithmetic on single values as ir/expr.h defines it, used by both constant folding and the interpreter of the tests.
//
// An integer of any type is held in an int64_t: sign-extended (iN), zero-extended (uN, bool), u64 as its bit pattern. A
// float of any type is held in a double that the type can represent exactly.
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "ir/expr.h"

namespace hone::ir {

// `value` wrapped to the width of `type` (integer or bool; for bool, anything but 0 becomes 1).
int64_t WrapInt(DType type, int64_t value);

// `value` rounded to the nearest float of `type`, ties to even.
double RoundFloat(DType type, double value);

// Rounds towards minus infinity. REQUIRES: b != 0. FloorDiv(INT64_MIN, -1) wraps.
inline int64_t FloorDiv(int64_t a, int64_t b) {
  if (b == -1) return static_cast<int64_t>(0 - static_cast<uint64_t>(a));
  int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}
inline int64_t FloorMod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  int64_t r = a % b;
  return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}

inline bool IsArithmetic(ExprKind kind) { return kind >= ExprKind::kAdd && kind <= ExprKind::kMax; }
inline bool IsShift(ExprKind kind) { return kind == ExprKind::kShiftLeft || kind == ExprKind::kShiftRight; }
inline bool IsComparison(ExprKind kind) { return kind >= ExprKind::kEq && kind <= ExprKind::kGe; }
inline bool IsLogical(ExprKind kind) { return kind == ExprKind::kAnd || kind == ExprKind::kOr; }

// a `kind` b for operands of (element) type `type`; comparisons and logic give 0 or 1.
// REQUIRES: the divisor of kDiv and kMod on integers is not 0; a shift is by 0 to bits - 1; kMod and shifts are not
// used on floats.
int64_t EvalInt(ExprKind kind, DType type, int64_t a, int64_t b);
double EvalFloat(ExprKind kind, DType type, double a, double b);  // arithmetic
bool CompareFloat(ExprKind kind, double a, double b);

// Casts between element types. A float becomes an integer by rounding towards zero; if it does not fit, the result is
// unspecified (here: 0 for NaN, else the nearest 64-bit integer, wrapped). As a bool, anything but 0 is true.
int64_t CastFloatToInt(DType to, double value);
double CastIntToFloat(DType from, DType to, int64_t value);

}  // namespace hone::ir
