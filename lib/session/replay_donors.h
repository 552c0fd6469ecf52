// Replays of tasks that learn from each other, as the tasks of a pipeline with `transfer = true` do.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "record/replay_space.h"
#include "search/space/space.h"
#include "session/replay.h"

namespace hone::session {

// Owned elsewhere.
struct ReplayTask {
  const record::ReplaySpace* replay = nullptr;
  const search::TaskSpace* space = nullptr;
  search::LoopProgram loops;  // null: points are lowered anew in each run
};

// Runs one tuner on all tasks with seeds 1 .. seeds; of each task its runs, in the order of the seeds. A task's donors
// are chosen and told to it as hone-plan and hone-tune do (pipeline/donors.h, session/donors.h): the nearest of its
// target whose ids come before its own, with the trials that the tuner itself made on them under the same seed, if they
// were measured on the same machine. The first has none. What `options` says of seed, donors and loops does not count.
Result<std::vector<std::vector<ReplayRun>>> ReplayWithDonors(const std::vector<ReplayTask>& tasks,
                                                             const ReplayOptions& options, int64_t seeds);

}  // namespace hone::session
