// The tasks of the networks that share a total (`[tune] total_of`), as one list for ShareOut (pipeline/shares.h).
//
// `[tune] objective` says whether a second less counts the same in every network ("sum"), or relative to the network's
// estimated total ("geomean": the geometric mean of the networks' times falls by the mean of these shares, whatever
// reference they are compared with). In a network whose estimated total is at most its target, nothing counts.
#pragma once

#include <string>
#include <vector>

#include "pipeline/shares.h"

namespace hone::pipeline {

struct JoinedNetwork {
  std::vector<std::string> ids;  // of its tasks
  std::vector<ShareTask> tasks;  // likewise; a task that several networks have is in the same state in all of them
  double target_ms = 0;          // 0: no target
};

struct JoinedTasks {
  std::vector<std::string> ids;  // each once, in the order of the networks
  std::vector<ShareTask> tasks;  // with one use; weight: the sum over the networks
};

JoinedTasks JoinNetworks(const std::vector<JoinedNetwork>& networks, const std::string& objective);

}  // namespace hone::pipeline
