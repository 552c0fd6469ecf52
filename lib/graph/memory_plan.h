// Places the intermediate tensors of a network in one arena.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::graph {

inline constexpr int64_t kArenaAlignment = 64;

// Step `first` writes the tensor and step `last` (at least `first`) is the last to read it, both inclusive: tensors
// whose intervals share a step must not overlap.
struct Lifetime {
  int64_t bytes = 0;
  int first = 0, last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  // one per tensor, multiples of the alignment
  int64_t bytes = 0;             // of the arena
};

// Places large tensors first, each into the smallest gap that fits between the already placed tensors with a shared
// step (best fit), or behind them. The arena is at least as large as the tensors that live at one step; for sequential
// networks it is exactly that.
MemoryPlan PlanMemory(const std::vector<Lifetime>& tensors, int64_t alignment = kArenaAlignment);

}  // namespace hone::graph
