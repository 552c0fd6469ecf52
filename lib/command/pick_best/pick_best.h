// hone-pick-best: picks the best recorded configuration of each task of a network.
#pragma once

#include <string>

namespace hone::command {

struct PickBestOptions {
  std::string tasks;    // the task list, NET.TARGET.tasks.json
  std::string graph;    // nets/NET.graph.json; empty: takes no alternatives
  std::string records;  // folder of the record files, TASKID.db
  std::string out;      // best/NET.TARGET.json; written only if its bytes change
  std::string choice;   // best/NET.TARGET.choice.json, the same without figures, for hone-build; empty: not written
  int finalists = 6;    // per task in `out`, for hone-confirm
  std::string winograd = "6";  // "off", "2", "4", "6": ignores trials beyond this limit (`[numerics] winograd`)
  bool tf32 = false;           // considers trials in TF32 (`[numerics] tf32`)
  // Memory limit of the kernels' packed parameters, as a multiple (1 to kMostMemory) of the network's own (`[memory]
  // parameters`); 0: no limit. Ignores trials that need more than their task's share
  // (command/pick_best/network_memory.h). Needs `graph`.
  double memory = 0;
  bool allow_missing =
      false;  // a task without records uses those of the same computation with another epilogue, else the default
  bool or_default = false;  // a task with records but without a correct trial uses the default
};

// Returns the exit code: 0 done; 1 failed, as a record file is missing or unusable, or a task has no correct
// trial.
int RunPickBest(const PickBestOptions& options);

}  // namespace hone::command
