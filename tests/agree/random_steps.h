// Random legal step lists: steps are proposed at random, and those that the schedule accepts are kept.
#pragma once

#include "base/rng.h"
#include "schedule/schedule.h"

namespace hone::agree {

// Applies up to `count` random steps to `schedule`; for a GPU a third of them bind loops to blocks and threads, or put
// something into shared memory.
void ApplyRandomSteps(int count, bool gpu, Rng* rng, schedule::Schedule* schedule);

}  // namespace hone::agree
