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

// First the tasks of the network as it stands (LimitMemory). A node's constants count once for each set of parameters
// that nodes of its workload read: equal ones are stored once. Then those of alternatives: a kernel that stands for
// some nodes may take what these were given together, so that whatever is built in the end, with some alternatives or
// without any, is within the limit. One with a task that the network has itself is bounded as that, and left out where
// this is too much for its place. What is left over then goes to kernels that are larger than their task was given
// and about as fast (SpendRest): hone-confirm shall have them to choose from.
Result<NetworkMemory> BoundMemory(const graph::Graph& graph, const pipeline::TaskList& list, double times,
                                  const KernelCosts& costs);

}  // namespace hone::command
