#include "measure/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstring>

#include "base/check.h"
#include "task/tensor_data.h"

namespace hone::measure {
namespace {

std::vector<int64_t> Position(const std::vector<int64_t>& shape, int64_t index) {
  std::vector<int64_t> position(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    position[i] = index % shape[i];
    index /= shape[i];
  }
  return position;
}

}  // namespace

double Tolerance(int64_t reduction_length) {
  return 0x1p-23 * (64 + 16 * std::sqrt(static_cast<double>(reduction_length)));
}

std::optional<std::string> FirstDifference(const Operand& output, const void* got, const void* want, double tolerance) {
  const int64_t total = output.PhysicalElements();
  const DType type = output.logical.type;
  int64_t first = -1, count = 0;
  const auto differs = [&](int64_t i) {
    if (first < 0) first = i;
    ++count;
  };
  if (type == DType::Float(32)) {
    const auto *found = static_cast<const float*>(got), *right = static_cast<const float*>(want);
    const float t = static_cast<float>(tolerance);
    for (int64_t i = 0; i < total; ++i) {
      if (!(std::fabs(found[i] - right[i]) <= t * (1 + std::fabs(right[i])))) differs(i);  // NaN, too
    }
  } else {
    const auto *found = static_cast<const char*>(got), *right = static_cast<const char*>(want);
    const int bytes = type.bytes();
    HONE_CHECK(!type.is_float());
    for (int64_t i = 0; i < total; ++i) {
      if (std::memcmp(found + i * bytes, right + i * bytes, static_cast<size_t>(bytes)) != 0) differs(i);
    }
    tolerance = 0;
  }
  if (first < 0) return std::nullopt;
  const auto value = [&](const void* values) {
    return ToDoubles(type, static_cast<const char*>(values) + first * type.bytes(), 1)[0];
  };
  return fmt::format("{}[{}] is {}, expected {}; {} of {} elements differ, tolerance {:.2g}", output.name,
                     fmt::join(Position(output.physical, first), ","), static_cast<float>(value(got)),
                     static_cast<float>(value(want)), count, total, tolerance);
}

}  // namespace hone::measure
