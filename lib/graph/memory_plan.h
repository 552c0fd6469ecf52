// Where each intermediate tensor of a network lives in its one arena.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::graph {

inline constexpr int64_t kArenaAlignment = 64;

// A tensor that is written by step `first` and read for the last time by step `last` (at least `first`), both
// inclusive: two tensors whose intervals share a step must not overlap.
struct Lifetime {
  int64_t bytes = 0;
  int first = 0, last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // one a tensor, multiples of the alignment
  int64_t bytes = 0;             // of the arena
};

// Places large tensors first, each into the smallest gap that holds it among those already placed with a shared step
// (best fit), or behind them. At least as large as the most that lives at once; networks in a row reach that.
MemoryPlan PlanMemory(const std::vector<Lifetime>& tensors, int64_t alignment = kArenaAlignment);

}  // namespace hone::graph
