// hone-allocate: shares the trials of a network out over its tasks, for one round.
#pragma once

#include <string>

namespace hone::command {

struct AllocateOptions {
  std::string tasks;     // the task list, NET.TARGET.tasks.json
  std::string settings;  // the pipeline's, with trials_total: NET.tune.json
  int round = 1;         // of pipeline::kRounds
  std::string stamps;    // folder of the stamps of the round before, TASKID.done; not read in the first round
  std::string out;       // folder to write TASKID.tune.json into: the settings of each task for this round
};

std::string AllocateAbi();

// Writes the settings of every task, each only if its bytes change: the pipeline's, with the task's own number of
// trials, and with finalists only in the last round. Returns the exit code.
int RunAllocate(const AllocateOptions& options);

}  // namespace hone::command
