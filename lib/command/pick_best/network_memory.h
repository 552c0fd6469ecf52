// Computes how much memory the constants of each task may take if the packed parameters of a network are limited to a
// multiple of its own parameters (`[memory] parameters`).
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
  std::map<std::string, int64_t> bounds;  // by task: bytes of one node's constants; no bound for other tasks
  std::set<size_t> left_out;              // indices in the list of alternatives that do not fit
  int64_t own = 0;                        // bytes of the parameters that the graph's nodes read
  int64_t most = 0;                       // `times` of that
  int64_t tasks = 0;                      // tasks with constants in the network without alternatives
  MemoryLimit chosen;                     // for these tasks
  int64_t bytes = 0;                      // with `chosen`, including parameters that are not constants of a kernel
};

// Returns the kernels that a task may be built with, at least one: without usable trials, the default's bytes and no
// seconds.
using KernelCosts = std::function<Result<std::vector<KernelCost>>(const std::string& id, const Workload& workload)>;

// 1. Bounds the tasks of the network without alternatives (LimitMemory). Constants count once for each set of
//    parameters that nodes of a workload read, since equal ones are stored once.
// 2. Bounds the tasks of alternatives. A kernel that replaces some nodes may take as much as these nodes got together,
//    so that every combination of alternatives is within the limit. If its task is also one of the network's own, it
//    gets that task's bound, or is left out if that exceeds the space of the replaced nodes.
// 3. Gives the rest to kernels that are about as fast but larger (SpendRest), so that hone-confirm can try them.
Result<NetworkMemory> BoundMemory(const graph::Graph& graph, const pipeline::TaskList& list, double times,
                                  const KernelCosts& costs);

}  // namespace hone::command
