// Draws points of a space in which few combinations of some decisions are legal.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "search/space/space.h"

namespace hone::sketch {

// For Space::SetSampler: draws a combination of the decisions `core` that `core_rules` accept, and any value of each
// other decision. Names that the space lacks do not count. The combinations are listed at the first draw. REQUIRES: each
// of `core_rules` is a rule of `space` and reads nothing but these decisions.
std::function<PointIndex(Rng&)> SampleCore(const search::Space& space, const std::vector<std::string>& core,
                                           const std::vector<search::Rule>& core_rules);

}  // namespace hone::sketch
