// Combines several sweeps of one space. A shared machine has fast and slow phases of seconds, so of thousands of points
// that were measured once, the fastest is merely the luckiest.
#pragma once

#include <vector>

#include "base/result.h"
#include "record/replay_space.h"

namespace hone::record {

// Returns each point of the first sweep with the median of its verdicts (of two, the faster one); failures rank behind
// all times. First each sweep's times are divided by the median ratio of its points' times to the first sweep's, so
// that a sweep taken while the machine was slower counts as much as the others. Returns kInvalid if `sweeps` is empty,
// or if a sweep belongs to another space or lacks a point of the first.
Result<ReplaySpace> MiddleOf(const std::vector<ReplaySpace>& sweeps);

}  // namespace hone::record
