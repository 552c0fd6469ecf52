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
#include "graph/graph.h"
#include "pipeline/task_list.h"

namespace hone::command {

// Choosing kernels so that the packed parameters stay within a limit is a knapsack problem, which knows only times and
// bytes.

// A recorded kernel: its seconds measured alone, and the bytes of its packed constants.
struct KernelCost {
  double seconds = 0;
  int64_t bytes = 0;
};

struct MemoryTask {
  std::vector<KernelCost> kernels;  // in any order, at least one
  int64_t uses = 1;                 // number of times that a run computes it
  int64_t copies = 1;               // number of uses with constants of their own
};

struct MemoryLimit {
  std::vector<int64_t> bounds;  // per task: limit of one copy's bytes; the choice is the fastest kernel within it
  int64_t bytes = 0;            // for all copies of all tasks
  double seconds = 0;           // per run, in addition to the fastest kernels
  int64_t changed = 0;          // tasks with a kernel other than the fastest
  bool reached = true;          // false: even the smallest kernels exceed the limit, and are taken
};

// Chooses one kernel for each task so that all constants take at most `limit` bytes and a run takes the least time.
// Exact while there are few different sums of bytes. Beyond some thousand sums, keeps only the best, spread evenly over
// their range; a task may then waste less than a thousandth of the range. The limit always holds.
MemoryLimit LimitMemory(const std::vector<MemoryTask>& tasks, int64_t limit);

// A task that could use more bytes than it needs: for larger kernels that are about as fast.
struct MemoryWish {
  int64_t bound = 0;           // bytes of one copy so far
  std::vector<int64_t> steps;  // larger sizes to try, ascending
  int64_t copies = 1;
};

// Raises bounds step by step, the cheapest step first, until the next step would exceed `rest`.
void SpendRest(int64_t rest, std::vector<MemoryWish>* wishes);

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
