#include "task/tensor_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

namespace hone {
namespace {

// Calls visit(T()) with the C++ type of `type`.
template <typename Visit>
void WithType(DType type, const Visit& visit) {
  HONE_CHECK(type.is_scalar());
  if (type == DType::Float(32)) return visit(float());
  if (type == DType::Float(64)) return visit(double());
  if (type == DType::Int(8)) return visit(int8_t());
  if (type == DType::Int(16)) return visit(int16_t());
  if (type == DType::Int(32)) return visit(int32_t());
  if (type == DType::Int(64)) return visit(int64_t());
  if (type == DType::UInt(8)) return visit(uint8_t());
  if (type == DType::UInt(16)) return visit(uint16_t());
  if (type == DType::UInt(32)) return visit(uint32_t());
  HONE_CHECK(type == DType::UInt(64));
  visit(uint64_t());
}

template <typename T>
T Rounded(double value) {
  if constexpr (std::is_floating_point_v<T>) return static_cast<T>(value);
  // The largest 64-bit integers are not doubles: 2^63 and 2^64 are the first doubles out of range.
  const double rounded = std::nearbyint(value);
  if (!(rounded > static_cast<double>(std::numeric_limits<T>::min()))) return std::numeric_limits<T>::min();
  if (rounded >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
}

}  // namespace

std::vector<double> ToDoubles(DType type, const void* from, int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  WithType(type, [&](auto zero) {
    const auto* at = static_cast<const decltype(zero)*>(from);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(at[i]);
  });
  return values;
}

void FromDoubles(const std::vector<double>& values, DType type, void* to) {
  WithType(type, [&](auto zero) {
    auto* at = static_cast<decltype(zero)*>(to);
    for (size_t i = 0; i < values.size(); ++i) at[i] = Rounded<decltype(zero)>(values[i]);
  });
}

TensorData::TensorData(TensorType of, const std::vector<double>& values) : TensorData(std::move(of)) {
  HONE_CHECK(static_cast<int64_t>(values.size()) == Elements());
  FromDoubles(values, type.type, bytes.data());
}

TensorData::TensorData(const std::vector<float>& values)
    : TensorData(TensorType{DType::Float(32), {static_cast<int64_t>(values.size())}}) {
  std::copy(values.begin(), values.end(), as<float>().begin());
}

}  // namespace hone
