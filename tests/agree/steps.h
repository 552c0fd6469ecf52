// Random schedules.
#pragma once

#include "base/rng.h"
#include "schedule/schedule.h"

namespace hone::agree {

// Applies up to `count` random steps to `schedule`, those of them that it accepts; for a GPU, a third of them bind
// loops to blocks and threads, or put tensors into shared memory.
void ApplyRandomSteps(int count, bool gpu, Rng* rng, schedule::Schedule* schedule);

// Applies steps with the structure of GPU templates: tiles over blocks, virtual threads and threads, accumulators in
// registers, inputs through shared memory that the block fills together. The DAG of `schedule` must end in an output
// that reads, element by element, a stage with a reduction; nothing is done for other DAGs. A rejected step is a test
// failure.
void ApplyTiledSteps(Rng* rng, schedule::Schedule* schedule);

}  // namespace hone::agree
