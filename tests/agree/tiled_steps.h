// Random schedules with the structure of GPU templates: tiles over blocks, virtual threads and threads, accumulators in
// registers, inputs through shared memory that the block fills together.
#pragma once

#include "base/rng.h"
#include "schedule/schedule.h"

namespace hone::agree {

// Applies such steps to `schedule`, whose DAG must end in an output that reads, element by element, a stage with a
// reduction. Does nothing for other DAGs. A rejected step is a test failure.
void ApplyTiledSteps(Rng* rng, schedule::Schedule* schedule);

}  // namespace hone::agree
