// Between f32 and integers:
//   quantise(f32[..], f32[1], T[1])    clamp(round(x / scale) + zero, the least and the most value of T)
//   dequantise(T[..], f32[1], T[1])    f32(x - zero) * scale
// for T = u8 or i8. `dequantise` also takes i32. Scales and zero points may be any tensors that broadcast to x: for
// each channel (axis 1), f32[C] for two axes and f32[C,1,1] for four. Quotient and product are rounded once, and
// `round` takes ties to even, as ONNX has it. A NaN becomes the least value.
//
// Between bytes, for T, U and V = u8 or i8 and tensors that broadcast:
//   requantise(T[..], f32[1], T[1], V[1], V[1], V[1])
//     clamp(round(f32(x - zero_x) * c) + zero, least, most)
//   requantise(T[..], f32[1], T[1], U[..], f32[1], U[1], V[1], V[1], V[1])
//     clamp(round(fma(f32(y - zero_y), d, f32(x - zero_x) * c)) + zero, least, most)
// c and d are the scales of x and y over that of the output; the last three are zero, least and most. The product and
// the fma are rounded once each. So there is one right answer, as for `requant` (semantics/epilogue.h).
//
// With i32[1] in the places of c and d, these are powers of two, in integers only, as in `shift`:
//     clamp(floor((x - zero_x) * 2^c + (y - zero_y) * 2^d + 1/2) + zero, least, most)
// c and d are kLeastExponent to kMostExponent; others count as the nearest of these.
#pragma once

#include <cmath>
#include <utility>

#include "base/dtype.h"
#include "task/workload.h"

namespace hone::semantics {

inline bool IsQuantise(const Workload& workload) { return workload.op == "quantise"; }
inline bool IsDequantise(const Workload& workload) { return workload.op == "dequantise"; }
inline bool IsRequantise(const Workload& workload) { return workload.op == "requantise"; }

// With 13 bits behind the point, the sum of two such terms stays in i32.
constexpr int kLeastExponent = -13, kMostExponent = 8;

// Scales are positive normal numbers.
inline bool IsScale(float scale) { return std::isnormal(scale) && scale > 0; }

// The least and the most value of an integer of 8 bits.
constexpr std::pair<int, int> LimitsOf(DType type) { return type.is_int() ? std::pair(-128, 127) : std::pair(0, 255); }

}  // namespace hone::semantics
