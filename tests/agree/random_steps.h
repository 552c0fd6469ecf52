// Random legal step lists: steps are proposed at random, and those that the schedule accepts are kept.
#pragma once

#include "base/rng.h"
#include "schedule/schedule.h"

namespace hone::agree {

// Applies up to `count` random steps to `schedule`.
void ApplyRandomSteps(int count, Rng* rng, schedule::Schedule* schedule);

}  // namespace hone::agree
