#include "measure/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

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

std::optional<std::string> FirstDifference(const Operand& output, const float* got, const float* want,
                                           double tolerance) {
  const int64_t total = output.PhysicalElements();
  const float t = static_cast<float>(tolerance);
  int64_t first = -1, count = 0;
  for (int64_t i = 0; i < total; ++i) {
    const bool right = std::fabs(got[i] - want[i]) <= t * (1 + std::fabs(want[i]));  // false for NaN
    if (right) continue;
    if (first < 0) first = i;
    ++count;
  }
  if (first < 0) return std::nullopt;
  return fmt::format("{}[{}] is {}, expected {}; {} of {} elements differ, tolerance {:.2g}", output.name,
                     fmt::join(Position(output.physical, first), ","), got[first], want[first], count, total,
                     tolerance);
}

}  // namespace hone::measure
