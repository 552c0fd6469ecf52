#include "graph/memory_plan.h"

#include "base/rng.h"
#include "common/expect.h"

namespace hone::graph {
namespace {

// Brute force over all pairs and all steps.
void ExpectSound(const std::vector<Lifetime>& tensors, const MemoryPlan& plan) {
  ASSERT_EQ(plan.offsets.size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % kArenaAlignment, 0);
    EXPECT_GE(plan.offsets[i], 0);
    EXPECT_LE(plan.offsets[i] + tensors[i].bytes, plan.bytes);
    for (size_t j = 0; j < i; ++j) {
      bool together = false;
      for (int step = tensors[i].first; step <= tensors[i].last; ++step) {
        together |= tensors[j].first <= step && step <= tensors[j].last;
      }
      const bool apart = plan.offsets[i] + tensors[i].bytes <= plan.offsets[j] ||
                         plan.offsets[j] + tensors[j].bytes <= plan.offsets[i];
      EXPECT_TRUE(!together || apart) << i << " and " << j;
    }
  }
}

TEST(MemoryPlan, RandomLifetimesNeverOverlap) {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<Lifetime> tensors(1 + rng.UniformInt(30));
    for (Lifetime& t : tensors) {
      t.bytes = static_cast<int64_t>(1 + rng.UniformInt(round % 2 ? 4000 : 70));
      t.first = static_cast<int>(rng.UniformInt(20));
      t.last = t.first + static_cast<int>(rng.UniformInt(6));
    }
    MemoryPlan plan = PlanMemory(tensors);
    ExpectSound(tensors, plan);
  }
}

TEST(MemoryPlan, AChainNeedsTwoBuffers) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 10; ++i) chain.push_back({1024, i, i + 1});
  EXPECT_EQ(PlanMemory(chain).bytes, 2048);
}

TEST(MemoryPlan, TakesTheSmallestGapThatFits) {
  // The first and the third leave holes of 1024 and 512 bytes between long-lived neighbours; the last fits into both.
  std::vector<Lifetime> tensors = {{1000, 0, 1}, {900, 0, 9}, {500, 0, 1}, {400, 0, 9}, {256, 2, 9}};
  MemoryPlan plan = PlanMemory(tensors);
  ExpectSound(tensors, plan);
  EXPECT_EQ(plan.offsets[4], plan.offsets[2]);
}

TEST(MemoryPlan, NothingNeedsNothing) { EXPECT_EQ(PlanMemory({}).bytes, 0); }

}  // namespace
}  // namespace hone::graph
