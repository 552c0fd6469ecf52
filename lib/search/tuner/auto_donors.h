// What trials of other shapes say about the points of this one.
#pragma once

#include <vector>

#include "search/space/space.h"
#include "search/tuner/auto_points.h"
#include "search/tuner/context.h"

namespace hone::search {

// For each row what is to be added to its log_cost, but for a constant: the mean of a Gaussian process over the
// donors' log(time) - log(estimate), each donor less its mean. It is as large as donors predict each other: each is
// predicted by the others, and the slope of its labels over what was predicted (nearer donors count for more) is what
// of the correction is believed, 0 to 1; of one alone half is. Empty without donors or estimates. Deterministic.
std::vector<float> DonorCorrection(const AutoPoints& points, const TaskSpace& space, const TunerContext& context);

}  // namespace hone::search
