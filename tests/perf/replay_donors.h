// Replays of tasks that learn from each other, like the tasks of a pipeline with `transfer = true`.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "record/replay_space.h"
#include "search/space/space.h"
#include "session/replay.h"

namespace hone::session {

// Lowers each point once and keeps it for all runs that share the returned function: for tuners that look at the loops
// of one space under many seeds. Thread-safe. A point takes some hundred kilobytes.
search::LoopProgram RememberLoops(search::LoopProgram loops);

// The data is owned elsewhere.
struct ReplayTask {
  const record::ReplaySpace* replay = nullptr;
  const search::TaskSpace* space = nullptr;
  search::LoopProgram loops;  // null: points are lowered anew in each run
};

// Runs one tuner on all tasks with seeds 1 .. seeds. Returns each task's runs in the order of the seeds. Donors are
// chosen as hone-plan and hone-tune choose them (pipeline/donors.h, session/tuner_context.h): the nearest tasks of the
// same target and machine whose ids come before the task's own. They bring the trials that this tuner made on them
// under the same seed. The first task has no donor. `options.seed`, `options.donors` and `options.loops` are ignored.
Result<std::vector<std::vector<ReplayRun>>> ReplayWithDonors(const std::vector<ReplayTask>& tasks,
                                                             const ReplayOptions& options, int64_t seeds);

}  // namespace hone::session
