// Draws points of a space where some decisions have few legal combinations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "search/space/space.h"

namespace hone::sketch {

// Decisions that have few legal combinations. Names that the space lacks do not count.
struct Core {
  std::vector<std::string> decisions;
  // Read no other decision, and reject only what the space's rules reject as well.
  std::vector<search::Rule> rules;
};

// For Space::SetSampler: draws for each core a combination that its rules accept, and any value of each other decision.
// The combinations are listed at the first draw. REQUIRES: the cores have no decision in common.
std::function<PointIndex(Rng&)> SampleCores(const search::Space& space, const std::vector<Core>& cores);

}  // namespace hone::sketch
