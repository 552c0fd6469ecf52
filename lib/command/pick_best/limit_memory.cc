#include "command/pick_best/limit_memory.h"

#include <algorithm>
#include <tuple>

namespace hone::command {
namespace {

// Limit of the sums of bytes kept from one task to the next: a network of 500 tasks then takes 66 MB.
constexpr size_t kMostSums = 4096;

// The kernels worth considering, smallest first: each larger one is faster.
std::vector<KernelCost> Front(std::vector<KernelCost> kernels) {
  std::ranges::sort(kernels, {}, [](const KernelCost& k) { return std::tie(k.bytes, k.seconds); });
  std::vector<KernelCost> front;
  for (const KernelCost& k : kernels) {
    if (front.empty() || k.seconds < front.back().seconds) front.push_back(k);
  }
  return front;
}

// A choice for the tasks so far.
struct Sum {
  int64_t bytes = 0;
  double seconds = 0;
  size_t before = 0, kernel = 0;  // index of the previous task's sum, and of the kernel in this task's front
};

// Keeps kernels that are faster than all smaller ones.
void KeepBest(std::vector<Sum>* sums) {
  std::ranges::sort(*sums, {}, [](const Sum& s) { return std::tie(s.bytes, s.seconds, s.before, s.kernel); });
  size_t kept = 0;
  for (const Sum& sum : *sums) {
    if (kept == 0 || sum.seconds < (*sums)[kept - 1].seconds) (*sums)[kept++] = sum;
  }
  sums->resize(kept);
  if (kept <= kMostSums) return;
  // Keeps the smallest, so that the limit can be met, and the fastest in each of equal parts of the range.
  const double low = static_cast<double>(sums->front().bytes), range = static_cast<double>(sums->back().bytes) - low;
  const auto part = [&](const Sum& s) {
    return static_cast<size_t>((static_cast<double>(s.bytes) - low) / range * (kMostSums - 1));
  };
  std::vector<Sum> thin = {sums->front()};
  for (size_t i = 1; i < kept; ++i) {
    if (i + 1 == kept || part((*sums)[i]) != part((*sums)[i + 1])) thin.push_back((*sums)[i]);
  }
  *sums = std::move(thin);
}

// For each task, the fastest kernel of its front within the limit; the smallest if no kernel fits.
std::vector<size_t> Choose(const std::vector<MemoryTask>& tasks, const std::vector<std::vector<KernelCost>>& fronts,
                           int64_t limit, bool* reached) {
  int64_t smallest = 0;  // for the remaining tasks
  for (size_t i = 0; i < tasks.size(); ++i) smallest += tasks[i].copies * fronts[i].front().bytes;
  std::vector<size_t> chosen(tasks.size(), 0);
  *reached = smallest <= limit;
  if (!*reached) return chosen;
  std::vector<std::vector<Sum>> sums = {{Sum()}};
  for (size_t i = 0; i < tasks.size(); ++i) {
    smallest -= tasks[i].copies * fronts[i].front().bytes;
    std::vector<Sum> next;
    for (size_t s = 0; s < sums[i].size(); ++s) {
      for (size_t k = 0; k < fronts[i].size(); ++k) {
        const int64_t bytes = sums[i][s].bytes + tasks[i].copies * fronts[i][k].bytes;
        if (bytes > limit - smallest) break;
        const double uses = static_cast<double>(tasks[i].uses);
        next.push_back({bytes, sums[i][s].seconds + uses * fronts[i][k].seconds, s, k});
      }
    }
    KeepBest(&next);
    next.shrink_to_fit();  // many times as many sums were tried
    sums.push_back(std::move(next));
  }
  size_t at = sums.back().size() - 1;  // the largest is the fastest
  for (size_t i = tasks.size(); i-- > 0;) {
    chosen[i] = sums[i + 1][at].kernel;
    at = sums[i + 1][at].before;
  }
  return chosen;
}

}  // namespace

MemoryLimit LimitMemory(const std::vector<MemoryTask>& tasks, int64_t limit) {
  MemoryLimit result;
  std::vector<std::vector<KernelCost>> fronts;
  for (const MemoryTask& task : tasks) fronts.push_back(Front(task.kernels));
  const std::vector<size_t> chosen = Choose(tasks, fronts, limit, &result.reached);
  for (size_t i = 0; i < tasks.size(); ++i) {
    const KernelCost &kernel = fronts[i][chosen[i]], &fastest = fronts[i].back();
    result.bounds.push_back(kernel.bytes);
    result.bytes += tasks[i].copies * kernel.bytes;
    result.seconds += static_cast<double>(tasks[i].uses) * (kernel.seconds - fastest.seconds);
    result.changed += chosen[i] + 1 < fronts[i].size();
  }
  return result;
}

void SpendRest(int64_t rest, std::vector<MemoryWish>* wishes) {
  for (;;) {
    MemoryWish* cheapest = nullptr;
    int64_t bound = 0, least = rest;
    for (MemoryWish& wish : *wishes) {
      const auto step = std::upper_bound(wish.steps.begin(), wish.steps.end(), wish.bound);
      if (step == wish.steps.end()) continue;
      const int64_t cost = wish.copies * (*step - wish.bound);
      if (cost > least || (cheapest != nullptr && cost == least)) continue;
      cheapest = &wish;
      least = cost;
      bound = *step;
    }
    if (cheapest == nullptr) return;
    cheapest->bound = bound;
    rest -= least;
  }
}

}  // namespace hone::command
