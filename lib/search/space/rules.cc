#include "search/space/rules.h"

#include "base/integers.h"

namespace hone::search {

std::vector<int64_t> NoLarger(int64_t most, std::vector<int64_t> values) {
  std::erase_if(values, [&](int64_t v) { return v > most; });
  return values;
}

std::vector<int64_t> EvenParts(int64_t extent, int64_t most) {
  std::vector<int64_t> parts;
  for (int64_t k = CeilDiv(extent, most); k <= extent; ++k) {
    int64_t part = CeilDiv(extent, k);
    if (parts.empty() || parts.back() != part) parts.push_back(part);
  }
  return parts;
}

double Imbalance(int64_t tasks, double size, double total, int threads) {
  return static_cast<double>(CeilDiv(tasks, threads)) * size * threads / total;
}

Rejection TooUneven(double imbalance, double limit, int threads) {
  if (imbalance <= limit) return {};
  return fmt::format("the busiest of {} threads would work {:.2f} times the average", threads, imbalance);
}

}  // namespace hone::search
