// Reads decisions of points of one space. Looks their places up once, for rules that see a million points.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "search/space/space.h"

namespace hone::sketch {

template <size_t kDecisions>
class DecisionReader {
 public:
  // `names` are the decisions that may be read. The space may lack some.
  DecisionReader(const std::vector<search::Knob>& decisions, const std::array<const char*, kDecisions>& names) {
    for (size_t i = 0; i < kDecisions; ++i) {
      const auto at = std::ranges::find(decisions, names[i], &search::Knob::name);
      places_[i] = at == decisions.end() ? -1 : static_cast<int>(at - decisions.begin());
    }
  }

  // `which` is a place in `names`. A decision that the space lacks is 1, and no word.
  int64_t Number(const Config& config, size_t which) const {
    return places_[which] < 0 ? 1 : config.values[static_cast<size_t>(places_[which])].numbers[0];
  }
  bool Is(const Config& config, size_t which, std::string_view word) const {
    return places_[which] >= 0 && config.values[static_cast<size_t>(places_[which])].words[0] == word;
  }

 private:
  std::array<int, kDecisions> places_;  // -1: the space lacks it
};

}  // namespace hone::sketch
