// How much memory the constants of each task of a network may take, so that its packed parameters are at most so many
// times the network's own (`[memory] parameters`).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "command/pick_best/limit_memory.h"
#include "graph/graph.h"
#include "pipeline/task_list.h"

namespace hone::command {

struct NetworkMemory {
  std::map<std::string, int64_t> bounds;  // by task: bytes of one node's constants; other tasks have no bound
  std::set<size_t> left_out;              // alternatives that there is no room for (indices of the list's)
  int64_t own = 0;                        // bytes of the parameters that the graph's nodes read
  int64_t most = 0;                       // `times` of that
  int64_t tasks = 0;                      // of the network as it stands, those that have constants
  MemoryLimit chosen;                     // of those
  int64_t bytes = 0;                      // with `chosen`; parameters that are no constants of a kernel are in it
};

// The kernels that a task may be built with: at least one, the default's bytes without seconds where nothing is
// recorded.
using KernelCosts = std::function<Result<std::vector<KernelCost>>(const std::string& id, const Workload& workload)>;

// 1. The tasks of the network as it stands (LimitMemory). Constants count once for each set of parameters that nodes of
//    a workload read, since equal ones are stored once.
// 2. The tasks of alternatives. A kernel that replaces some nodes may take what these nodes were given together, so
// that
//    every combination of alternatives is within the limit. If its task is also one of the network's own, it gets that
//    task's bound, or is left out if that is too much for its place.
// 3. The rest goes to kernels that are about as fast but larger (SpendRest), so that hone-confirm can try them.
Result<NetworkMemory> BoundMemory(const graph::Graph& graph, const pipeline::TaskList& list, double times,
                                  const KernelCosts& costs);

}  // namespace hone::command
