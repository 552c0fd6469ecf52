// The knapsack of `[memory] parameters`, on invented kernels whose best choice is known by hand or by brute force.
#include "base/rng.h"
#include "command/pick_best/limit_memory.h"
#include "common/expect.h"

namespace hone::command {
namespace {

using Bounds = std::vector<int64_t>;

// Without need the fastest of each, and below the smallest that is taken.
TEST(LimitMemory, ChangesWhatCostsTheLeastTime) {
  const std::vector<MemoryTask> tasks = {{{{1, 40}, {2, 10}}}, {{{5, 30}, {3, 70}, {4, 90}}}};
  const struct {
    int64_t most;
    Bounds bounds;
    int64_t bytes;
    double seconds;
    int64_t changed;
    bool reached = true;
  } rows[] = {{110, {40, 70}, 110, 0, 0}, {109, {10, 70}, 80, 1, 1}, {79, {40, 30}, 70, 2, 1},
              {69, {10, 30}, 40, 3, 2},   {40, {10, 30}, 40, 3, 2},  {39, {10, 30}, 40, 3, 2, false}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.most);
    const MemoryLimit limit = LimitMemory(tasks, row.most);
    EXPECT_EQ(limit.bounds, row.bounds);
    EXPECT_EQ(limit.bytes, row.bytes);
    EXPECT_DOUBLE_EQ(limit.seconds, row.seconds);
    EXPECT_EQ(limit.changed, row.changed);
    EXPECT_EQ(limit.reached, row.reached);
  }
}

// By time per byte the first task would change first, in vain: changing the second alone suffices.
TEST(LimitMemory, IsNoGreedyChoice) {
  const std::vector<MemoryTask> tasks = {{{{0, 20}, {1, 10}}}, {{{0, 100}, {6, 50}}}};
  const MemoryLimit limit = LimitMemory(tasks, 70);
  EXPECT_EQ(limit.bounds, (Bounds{20, 50}));
  EXPECT_DOUBLE_EQ(limit.seconds, 6);
}

// A layer computed five times costs five times the time, and the memory of each of its distinct weights.
TEST(LimitMemory, CountsUsesAndCopies) {
  const std::vector<KernelCost> kernels = {{1, 40}, {2, 10}};
  EXPECT_EQ(LimitMemory({{kernels, 5, 1}, {kernels, 1, 1}}, 50).bounds, (Bounds{40, 10}));
  EXPECT_EQ(LimitMemory({{kernels, 5, 5}, {kernels, 1, 1}}, 100).bounds, (Bounds{10, 40}));
  const MemoryLimit limit = LimitMemory({{kernels, 5, 5}}, 199);
  EXPECT_EQ(limit.bytes, 50);
  EXPECT_DOUBLE_EQ(limit.seconds, 5);
}

TEST(LimitMemory, OfEqualTimesTheSmallerOfEqualBytesTheFaster) {
  EXPECT_EQ(LimitMemory({{{{1, 40}, {1, 10}}}}, 100).bounds, (Bounds{10}));
  const MemoryLimit limit = LimitMemory({{{{2, 10}, {1, 10}, {3, 10}}}}, 100);
  EXPECT_EQ(limit.changed, 0);
  EXPECT_EQ(limit.seconds, 0);
}

TEST(LimitMemory, NoTasksTakeNothing) {
  const MemoryLimit limit = LimitMemory({}, 0);
  EXPECT_TRUE(limit.reached);
  EXPECT_EQ(limit.bytes, 0);
}

// The best of all choices by brute force, in seconds; ignores those above the limit.
double Best(const std::vector<MemoryTask>& tasks, size_t i, int64_t limit, double seconds) {
  if (limit < 0) return 1e9;
  if (i == tasks.size()) return seconds;
  double best = 1e9;
  for (const KernelCost& k : tasks[i].kernels) {
    best = std::min(best, Best(tasks, i + 1, limit - tasks[i].copies * k.bytes,
                               seconds + static_cast<double>(tasks[i].uses) * k.seconds));
  }
  return best;
}

TEST(LimitMemory, IsTheBestOfAllChoices) {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<MemoryTask> tasks(1 + rng.UniformInt(5));
    double fastest = 0;
    for (MemoryTask& task : tasks) {
      task.kernels.resize(1 + rng.UniformInt(4));
      for (KernelCost& k : task.kernels)
        k = {1.0 + static_cast<double>(rng.UniformInt(50)), 1 + static_cast<int64_t>(rng.UniformInt(40))};
      task.uses = 1 + static_cast<int64_t>(rng.UniformInt(3));
      task.copies = 1 + static_cast<int64_t>(rng.UniformInt(3));
      double least = 1e9;
      for (const KernelCost& k : task.kernels) least = std::min(least, k.seconds);
      fastest += static_cast<double>(task.uses) * least;
    }
    const int64_t most = static_cast<int64_t>(rng.UniformInt(60 * tasks.size()));
    const MemoryLimit limit = LimitMemory(tasks, most);
    const double best = Best(tasks, 0, most, 0);
    EXPECT_EQ(limit.reached, best < 1e9);
    if (!limit.reached) continue;
    EXPECT_LE(limit.bytes, most);
    EXPECT_DOUBLE_EQ(fastest + limit.seconds, best);
  }
}

// 2^40 choices, each with different bytes and seconds: not all are tried, but the result is within the limit, and as
// close to the best as can be told without trying all: between a fractional solution and one kernel more.
TEST(LimitMemory, ManyDifferentSumsStayWithinTheLimit) {
  struct Step {
    double seconds, bytes;
  };
  std::vector<MemoryTask> tasks;
  std::vector<Step> steps;
  int64_t all = 0, small = 0;
  double slowest = 0;
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t bytes = 1'000'003 + 7919 * i * i;
    const double seconds = 1 + 0.013 * static_cast<double>(i * i % 37);
    tasks.push_back({{{1, 4 * bytes}, {1 + seconds, bytes}}});
    steps.push_back({seconds, 3.0 * static_cast<double>(bytes)});
    all += 4 * bytes;
    small += bytes;
    slowest += seconds;
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.seconds * b.bytes < b.seconds * a.bytes; });
  const int64_t most = (all + small) / 2;
  double least = 0, left = static_cast<double>(all - most);
  for (const Step& step : steps) {
    const double part = std::clamp(left / step.bytes, 0.0, 1.0);
    least += part * step.seconds;
    left -= part * step.bytes;
  }
  const MemoryLimit limit = LimitMemory(tasks, most);
  EXPECT_TRUE(limit.reached);
  EXPECT_LE(limit.bytes, most);
  EXPECT_GE(limit.seconds, least * (1 - 1e-9));
  EXPECT_LE(limit.seconds, least + 1.5);
  EXPECT_TRUE(LimitMemory(tasks, small).reached);
  EXPECT_NEAR(LimitMemory(tasks, small).seconds, slowest, 1e-9);
  EXPECT_FALSE(LimitMemory(tasks, small - 1).reached);
}

TEST(SpendRest, TakesTheCheapestStepsAsLongAsTheyFit) {
  const std::vector<MemoryWish> before = {{10, {5, 10, 30}, 2}, {0, {7, 100}, 1}, {4, {}, 1}};
  const auto bounds = [&](int64_t rest) {
    std::vector<MemoryWish> wishes = before;
    SpendRest(rest, &wishes);
    return Bounds{wishes[0].bound, wishes[1].bound, wishes[2].bound};
  };
  EXPECT_EQ(bounds(-5), (Bounds{10, 0, 4}));
  EXPECT_EQ(bounds(6), (Bounds{10, 0, 4}));
  EXPECT_EQ(bounds(7), (Bounds{10, 7, 4}));
  EXPECT_EQ(bounds(46), (Bounds{10, 7, 4}));  // the next is 2 x 20
  EXPECT_EQ(bounds(47), (Bounds{30, 7, 4}));
  EXPECT_EQ(bounds(139), (Bounds{30, 7, 4}));  // and then 93
  EXPECT_EQ(bounds(140), (Bounds{30, 100, 4}));
}

}  // namespace
}  // namespace hone::command
