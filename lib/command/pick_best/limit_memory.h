// Chooses kernels so that the packed parameters of a network stay within a limit: a knapsack. It knows only times and
// bytes; command/pick_best/network_memory.h gets them from the network and the records.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::command {

// One that is recorded: seconds measured alone, and the bytes of its constants as it reads them.
struct KernelCost {
  double seconds = 0;
  int64_t bytes = 0;
};

struct MemoryTask {
  std::vector<KernelCost> kernels;  // in any order, at least one
  int64_t uses = 1;                 // how often a run computes it
  int64_t copies = 1;               // how many of those have constants of their own
};

struct MemoryLimit {
  std::vector<int64_t> bounds;  // a task: bytes of one copy, at most. The choice is the fastest kernel within them
  int64_t bytes = 0;            // of all copies of all tasks
  double seconds = 0;           // of one run, more than with the fastest kernel of each task
  int64_t changed = 0;          // tasks that have another than the fastest
  bool reached = true;          // false: even the smallest kernels exceed the limit; they are taken
};

// Chooses one kernel for each task so that all constants take at most `limit` bytes and a run takes the least time.
// Exact while there are few different sums of bytes. Beyond some thousand sums only the best are kept, spread evenly
// over their range; a task may then waste less than a thousandth of the range. The limit always holds.
MemoryLimit LimitMemory(const std::vector<MemoryTask>& tasks, int64_t limit);

// A task that could use more bytes than it needs, for other kernels that are about as fast and larger.
struct MemoryWish {
  int64_t bound = 0;           // bytes of one copy that it has already
  std::vector<int64_t> steps;  // bytes that would do, ascending
  int64_t copies = 1;
};

// Raises bounds step by step, the cheapest step first, until the next step would exceed `rest`.
void SpendRest(int64_t rest, std::vector<MemoryWish>* wishes);

}  // namespace hone::command
