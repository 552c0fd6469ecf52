// Several sweeps of one space as one: a shared machine has fast and slow phases of seconds, and among thousands of
// points that were measured once the best is the luckiest.
#pragma once

#include <vector>

#include "base/result.h"
#include "record/replay_space.h"

namespace hone::record {

// Each point of the first sweep with the middle of its verdicts (of two: the faster), slowest last, failures after
// all times. Before, each sweep's times are divided by the median of what its points took beside the first sweep's, so
// that a sweep during which the machine was slower counts as much as the others. kInvalid if `sweeps` is empty, or one
// is of another space or lacks a point of the first.
Result<ReplaySpace> MiddleOf(const std::vector<ReplaySpace>& sweeps);

}  // namespace hone::record
