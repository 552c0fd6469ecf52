// hone-allocate: distributes the budget of a network, or of several together, over their tasks, for one round.
#pragma once

#include <string>
#include <vector>

namespace hone::command {

struct AllocateOptions {
  std::vector<std::string> tasks;     // the task list of each network, NET.TARGET.tasks.json
  std::vector<std::string> settings;  // their pipelines', NET.tune.json; the first has the total
  int round = 1;                      // of its `rounds`
  std::string stamps;                 // folder of the previous round's stamps, TASKID.done; unused in the first round
  std::string out;                    // folder for TASKID.tune.json: the settings of each task for this round
};

std::string AllocateAbi();

// Writes a settings file for each task, only if its bytes change: the first pipeline's settings with the task's own
// budget, and with finalists only in the last round. The other pipelines contribute `target_ms` and [weights]. Returns
// the exit code.
int RunAllocate(const AllocateOptions& options);

}  // namespace hone::command
