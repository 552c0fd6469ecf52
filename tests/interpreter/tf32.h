#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace hone::ir {

// A value of f32 rounded to 10 explicit bits of mantissa, ties away from zero (Intrinsic::kTf32).
inline double RoundTf32(double value) {
  const float f = static_cast<float>(value);
  if (!std::isfinite(f)) return f;
  constexpr uint32_t kDropped = 13;  // of 23 bits; adding half of the last kept bit carries into the kept ones
  const uint32_t bits = std::bit_cast<uint32_t>(f) + (1u << (kDropped - 1));
  return std::bit_cast<float>(bits >> kDropped << kDropped);
}

}  // namespace hone::ir
