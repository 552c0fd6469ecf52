// TensorData: the values of a tensor in the host's memory, with their type. Used for parameters, inputs, reference
// outputs and messages of child processes; only the innermost loops work on plain arrays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"
#include "base/dtype.h"
#include "task/workload.h"

namespace hone {

// Converts `count` values of `type` at `from` to doubles, and back: rounded to nearest, and clamped to an integer
// type's range. REQUIRES: a scalar number of 8 to 64 bits, floats of 32 or 64; integers beyond 2^53 lose their last
// bits.
std::vector<double> ToDoubles(DType type, const void* from, int64_t count);
void FromDoubles(const std::vector<double>& values, DType type, void* to);

template <typename T>
constexpr DType DTypeOf() {
  if constexpr (std::is_floating_point_v<T>) return DType::Float(sizeof(T) * 8);
  if constexpr (std::is_signed_v<T>) return DType::Int(sizeof(T) * 8);
  return DType::UInt(sizeof(T) * 8);
}

struct TensorData {
  TensorType type;          // the shape as stored: the physical one for a blocked operand
  std::vector<char> bytes;  // row-major

  TensorData() : TensorData(TensorType{DType::Float(32), {0}}) {}
  explicit TensorData(TensorType of)  // zeros
      : type(std::move(of)), bytes(static_cast<size_t>(type.Elements()) * static_cast<size_t>(type.type.bytes())) {}
  TensorData(TensorType of, const std::vector<double>& values);  // REQUIRES: as many values as elements
  TensorData(const std::vector<float>& values);                  // NOLINT: f32[n], which converts

  int64_t Elements() const { return type.Elements(); }
  std::vector<double> Doubles() const { return ToDoubles(type.type, bytes.data(), Elements()); }
  // REQUIRES: T is the element type.
  template <typename T>
  std::span<T> as() {
    HONE_CHECK(type.type == DTypeOf<T>());
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <typename T>
  std::span<const T> as() const {
    HONE_CHECK(type.type == DTypeOf<T>());
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  std::string_view view() const { return {bytes.data(), bytes.size()}; }
  bool operator==(const TensorData&) const = default;  // bitwise
};

}  // namespace hone
