#include "graph/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace hone::graph {

static int64_t RoundUp(int64_t bytes, int64_t alignment) { return (bytes + alignment - 1) / alignment * alignment; }

MemoryPlan PlanMemory(const std::vector<Lifetime>& tensors, int64_t alignment) {
  MemoryPlan plan;
  plan.offsets.assign(tensors.size(), 0);
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return tensors[a].bytes > tensors[b].bytes; });
  std::vector<size_t> placed;
  for (size_t i : order) {
    std::vector<std::pair<int64_t, int64_t>> taken;  // [begin, end) of tensors that live at the same time
    for (size_t p : placed) {
      if (tensors[p].first > tensors[i].last || tensors[i].first > tensors[p].last) continue;
      taken.emplace_back(plan.offsets[p], plan.offsets[p] + RoundUp(tensors[p].bytes, alignment));
    }
    std::sort(taken.begin(), taken.end());
    const int64_t need = RoundUp(tensors[i].bytes, alignment);
    int64_t end = 0, best = -1, best_gap = 0;
    for (const auto& [begin, stop] : taken) {
      const int64_t gap = begin - end;
      if (gap >= need && (best < 0 || gap < best_gap)) best = end, best_gap = gap;
      end = std::max(end, stop);
    }
    plan.offsets[i] = best < 0 ? end : best;
    plan.bytes = std::max(plan.bytes, plan.offsets[i] + need);
    placed.push_back(i);
  }
  return plan;
}

}  // namespace hone::graph
