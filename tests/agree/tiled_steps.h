// Random schedules of the form that GPU templates have: tiles over blocks, virtual threads and threads, accumulators in
// registers, inputs by way of shared memory that the block fills together.
#pragma once

#include "base/rng.h"
#include "schedule/schedule.h"

namespace hone::agree {

// Applies such steps to `schedule`, whose DAG must end in an output that reads, element by element, a stage with a
// reduction. Nothing if it is of another form. A step that is refused is a test failure.
void ApplyTiledSteps(Rng* rng, schedule::Schedule* schedule);

}  // namespace hone::agree
