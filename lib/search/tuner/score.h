// The score of an outcome for a tuner that learns.
#pragma once

#include <vector>

#include "task/outcome.h"

namespace hone::search {

// The seconds of an outcome that has a time that makes sense (finite, above 0): of pruned ones, whose time is a lower
// bound, too. 0 for all others: failed, NaN, infinite.
double Seconds(const Outcome& outcome);

// The speed of each as a share of the fastest: 1 for that one, 0 for failures. All 0 if all failed.
std::vector<float> SpeedShares(const std::vector<Outcome>& outcomes);

}  // namespace hone::search
