// Chooses kernels so that the packed parameters of a network stay within a limit: a knapsack problem. It knows only
// times and bytes; command/pick_best/network_memory.h gets them from the network and the records.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::command {

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

}  // namespace hone::command
