// Random legal step lists: proposes steps at random and keeps those that the schedule accepts.
#pragma once

#include "base/rng.h"
#include "schedule/schedule.h"

namespace hone::agree {

// Applies up to `count` random steps to `schedule`; for a GPU, a third of them bind loops to blocks and threads, or put
// tensors into shared memory.
void ApplyRandomSteps(int count, bool gpu, Rng* rng, schedule::Schedule* schedule);

}  // namespace hone::agree
