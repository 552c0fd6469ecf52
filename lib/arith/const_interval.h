// Closed intervals of 64-bit integers, either end possibly infinite, with saturating arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ir/scalar.h"

namespace hone::arith {

struct ConstInterval {
  static constexpr int64_t kMinusInf = INT64_MIN, kPlusInf = INT64_MAX;
  int64_t min = kMinusInf, max = kPlusInf;

  static ConstInterval Point(int64_t v) { return {v, v}; }
  bool finite() const { return min != kMinusInf && max != kPlusInf; }
  bool operator==(const ConstInterval&) const = default;
};

inline int64_t SaturatedAdd(int64_t a, int64_t b) {
  if (a == ConstInterval::kMinusInf || b == ConstInterval::kMinusInf) return ConstInterval::kMinusInf;
  if (a == ConstInterval::kPlusInf || b == ConstInterval::kPlusInf) return ConstInterval::kPlusInf;
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return a < 0 ? ConstInterval::kMinusInf : ConstInterval::kPlusInf;
  return sum;
}

inline int64_t SaturatedMul(int64_t a, int64_t b) {  // 0 * infinity is 0
  if (a == 0 || b == 0) return 0;
  int64_t product;
  bool infinite = a == INT64_MIN || a == INT64_MAX || b == INT64_MIN || b == INT64_MAX;
  if (infinite || __builtin_mul_overflow(a, b, &product)) {
    return (a < 0) != (b < 0) ? ConstInterval::kMinusInf : ConstInterval::kPlusInf;
  }
  return product;
}

inline ConstInterval operator+(ConstInterval a, ConstInterval b) {
  return {SaturatedAdd(a.min, b.min), SaturatedAdd(a.max, b.max)};
}

inline ConstInterval operator*(ConstInterval a, ConstInterval b) {
  int64_t p[] = {SaturatedMul(a.min, b.min), SaturatedMul(a.min, b.max), SaturatedMul(a.max, b.min),
                 SaturatedMul(a.max, b.max)};
  return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
}

inline ConstInterval Min(ConstInterval a, ConstInterval b) { return {std::min(a.min, b.min), std::min(a.max, b.max)}; }
inline ConstInterval Max(ConstInterval a, ConstInterval b) { return {std::max(a.min, b.min), std::max(a.max, b.max)}; }

inline ConstInterval Union(ConstInterval a, ConstInterval b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}
inline ConstInterval Intersect(ConstInterval a, ConstInterval b) {
  return {std::max(a.min, b.min), std::min(a.max, b.max)};
}

// The values that an integer or bool of the type may have, limited to 64 bits.
inline ConstInterval RangeOfType(DType type) {
  if (type.is_bool()) return {0, 1};
  if (type.bits >= 64 || !(type.is_int() || type.is_uint())) return {};
  if (type.is_uint()) return {0, (int64_t{1} << type.bits) - 1};
  const int64_t half = int64_t{1} << (type.bits - 1);
  return {-half, half - 1};
}

// Floor division and modulo by a constant. REQUIRES: c > 0.
inline ConstInterval DivBy(ConstInterval a, int64_t c) {
  return {a.min == ConstInterval::kMinusInf ? a.min : ir::FloorDiv(a.min, c),
          a.max == ConstInterval::kPlusInf ? a.max : ir::FloorDiv(a.max, c)};
}
inline ConstInterval ModBy(ConstInterval a, int64_t c) {
  if (a.finite() && ir::FloorDiv(a.min, c) == ir::FloorDiv(a.max, c))
    return {ir::FloorMod(a.min, c), ir::FloorMod(a.max, c)};
  return {0, c - 1};
}

}  // namespace hone::arith
