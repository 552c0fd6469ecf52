// hone-allocate: distributes the budget of a network over its tasks, for one round.
#pragma once

#include <string>

namespace hone::command {

struct AllocateOptions {
  std::string tasks;     // the task list, NET.TARGET.tasks.json
  std::string settings;  // the pipeline's, with a total: NET.tune.json
  int round = 1;         // of the settings' `rounds`
  std::string stamps;    // folder of the previous round's stamps, TASKID.done; unused in the first round
  std::string out;       // folder for TASKID.tune.json: the settings of each task for this round
};

std::string AllocateAbi();

// Writes the settings of every task, each only if its bytes change: those of the pipeline with the task's own budget,
// and finalists only in the last round. Returns the exit code.
int RunAllocate(const AllocateOptions& options);

}  // namespace hone::command
