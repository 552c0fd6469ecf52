// Makes the space of a sketch small enough to be measured completely.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "sketch/sketch.h"

namespace hone::sketch {

// The number of legal points; nothing if there are too many points to look at.
inline std::optional<int64_t> LegalPoints(const Sketch& sketch) {
  const search::Space space = SpaceOf(sketch);
  if (space.size() > PointIndex{1} << 22) return std::nullopt;
  int64_t legal = 0;
  space.ForEach(0, space.size(), [&](PointIndex, bool is_legal) {
    legal += is_legal;
    return true;
  });
  return legal;
}

// Takes values away, one by one, from the decision that has the most; the seed says which. Stops at `most` legal points.
inline Sketch Cut(const Sketch& sketch, int64_t most, uint64_t seed) {
  Rng rng(seed);
  std::vector<search::Knob> decisions = sketch.decisions;
  while (true) {
    Sketch cut = WithDecisions(sketch, decisions);
    const std::optional<int64_t> legal = LegalPoints(cut);
    if (legal && *legal <= most) return cut;
    search::Knob& longest = *std::ranges::max_element(decisions, {}, &search::Knob::size);
    const std::string gone = longest.value(rng.UniformInt(longest.size())).Text();
    longest = longest.Only([&](const KnobValue& value) { return value.Text() != gone; });
  }
}

}  // namespace hone::sketch
