// Parts of legality rules, for templates and sketches.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hone::search {

// The values that are at most `most`.
std::vector<int64_t> NoLarger(int64_t most, std::vector<int64_t> values);
// ceil(extent / k) for k = 1, 2, ..: the sizes of even splits up to `most`, each once, descending.
std::vector<int64_t> EvenParts(int64_t extent, int64_t most);

// A rule's verdict on a point: why it is illegal, or nothing.
using Rejection = std::optional<std::string>;
// Nothing if the point is `legal`; else the reason, a text or a format with its arguments. The arguments are evaluated
// for legal points too, thousands of times a task: if one costs more than a few instructions, write an `if` instead.
inline Rejection Unless(bool legal, const char* why) { return legal ? Rejection() : why; }
template <typename First, typename... Rest>
Rejection Unless(bool legal, fmt::format_string<First, Rest...> why, First&& first, Rest&&... rest) {
  if (legal) return {};
  return fmt::format(why, std::forward<First>(first), std::forward<Rest>(rest)...);
}

// The ratio of the busiest thread's work to the average, if `tasks` equal tasks of `size` make up `total` work.
double Imbalance(int64_t tasks, double size, double total, int threads);
// Rejects an imbalance above `limit`.
Rejection TooUneven(double imbalance, double limit, int threads);

}  // namespace hone::search
