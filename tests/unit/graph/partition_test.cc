// The cut of a network into kernels, compared with all possible cuts.
#include "graph/partition.h"

#include "base/rng.h"
#include "common/expect.h"

namespace hone::graph {
namespace {

double Seconds(const PartitionProblem& problem, const std::vector<int>& options) {
  double seconds = 0;
  std::set<int> transforms;
  for (const int o : options) {
    const PartitionOption& option = problem.options[static_cast<size_t>(o)];
    seconds += option.seconds;
    transforms.insert(option.transforms.begin(), option.transforms.end());
  }
  for (const int t : transforms) seconds += problem.transforms[static_cast<size_t>(t)];
  return seconds;
}

// Whether each item is in exactly one of the options.
bool IsCover(const PartitionProblem& problem, const std::vector<int>& options) {
  std::vector<int> covered(static_cast<size_t>(problem.items), 0);
  for (const int o : options) {
    for (const int item : problem.options[static_cast<size_t>(o)].items) ++covered[static_cast<size_t>(item)];
  }
  return std::all_of(covered.begin(), covered.end(), [](int n) { return n == 1; });
}

// The least sum over every subset of the options.
double BruteForce(const PartitionProblem& problem) {
  double best = 1e30;
  const auto count = problem.options.size();
  for (uint32_t subset = 0; subset < (1u << count); ++subset) {
    std::vector<int> options;
    for (size_t o = 0; o < count; ++o) {
      if (subset >> o & 1) options.push_back(static_cast<int>(o));
    }
    if (IsCover(problem, options)) best = std::min(best, Seconds(problem, options));
  }
  return best;
}

PartitionProblem Random(Rng* rng) {
  PartitionProblem problem{.items = static_cast<int>(1 + rng->Next() % 6)};
  const auto few = [&](uint64_t below) { return static_cast<int>(rng->Next() % below); };
  for (int t = few(4); t > 0; --t) problem.transforms.push_back(few(5));
  const auto add = [&](std::vector<int> items) {
    PartitionOption option{std::move(items), static_cast<double>(few(10)), {}};
    for (size_t t = 0; t < problem.transforms.size(); ++t) {
      if (few(3) == 0) option.transforms.push_back(static_cast<int>(t));
    }
    problem.options.push_back(std::move(option));
  };
  for (int item = 0; item < problem.items; ++item) add({item});
  for (int more = few(7); more > 0; --more) {
    std::set<int> items;  // with gaps: branches of a network interleave
    for (int n = 1 + few(3); n > 0; --n) items.insert(few(static_cast<uint64_t>(problem.items)));
    add({items.begin(), items.end()});
  }
  return problem;
}

TEST(Partition, IsTheBestOfAllCuts) {
  Rng rng(1);
  int larger = 0, shared = 0;
  for (int round = 0; round < 400; ++round) {
    const PartitionProblem problem = Random(&rng);
    const auto found = Must(SolvePartition(problem));
    EXPECT_TRUE(IsCover(problem, found.options)) << round;
    EXPECT_DOUBLE_EQ(found.seconds, Seconds(problem, found.options)) << round;
    EXPECT_DOUBLE_EQ(found.seconds, BruteForce(problem)) << round;
    EXPECT_TRUE(found.exact);
    EXPECT_EQ(found.bound, found.seconds);
    for (const int o : found.options) {
      larger += problem.options[static_cast<size_t>(o)].items.size() > 1;
      shared += problem.options[static_cast<size_t>(o)].transforms.size() > 1;
    }
  }
  // Otherwise the rounds would have tested little.
  EXPECT_GT(larger, 100);
  EXPECT_GT(shared, 20);
}

// With a beam there is still a cover, and the promised bound on the best one holds.
TEST(Partition, ABeamSaysWhatItMayMiss) {
  Rng rng(2);
  int inexact = 0;
  for (int round = 0; round < 400; ++round) {
    const PartitionProblem problem = Random(&rng);
    const auto found = SolvePartition(problem, 2);
    if (!found.ok()) {  // both states led to no cover
      EXPECT_NE(found.status().message().find("no cover"), std::string::npos) << found.status().message();
      continue;
    }
    const double best = BruteForce(problem);
    EXPECT_TRUE(IsCover(problem, found->options)) << round;
    EXPECT_GE(found->seconds, best);
    EXPECT_LE(found->bound, best + 1e-12);
    if (found->exact) {
      EXPECT_DOUBLE_EQ(found->seconds, best) << round;
    }
    inexact += !found->exact;
  }
  EXPECT_GT(inexact, 0);
}

// Two readers of a plain tensor: blocking it pays off only for both together.
TEST(Partition, ATransformIsPaidOnce) {
  PartitionProblem problem;
  problem.items = 2;
  problem.transforms = {3};
  problem.options = {{{0}, 5, {}}, {{0}, 3, {0}}, {{1}, 5, {}}, {{1}, 3, {0}}};
  auto both = Must(SolvePartition(problem));
  EXPECT_EQ(both.seconds, 9);  // 3 + 3 + 3 against 5 + 5
  EXPECT_EQ(both.options, (std::vector<int>{1, 3}));
  problem.options[3].seconds = 5;
  EXPECT_EQ(Must(SolvePartition(problem)).options, (std::vector<int>{0, 2}));
}

TEST(Partition, WhatMakesNoSenseIsRefused) {
  EXPECT_FALSE(SolvePartition({2, {{{0}, 1, {}}}, {}}).ok());     // nothing computes item 1
  EXPECT_FALSE(SolvePartition({1, {{{1}, 1, {}}}, {}}).ok());     // no such item
  EXPECT_FALSE(SolvePartition({1, {{{0}, 1, {0}}}, {}}).ok());    // no such transform
  EXPECT_FALSE(SolvePartition({2, {{{1, 0}, 1, {}}}, {}}).ok());  // not in order
  EXPECT_TRUE(SolvePartition({0, {}, {}}).ok());
}

// A long row with many choices at each place stays fast: there are few states if few options are open.
TEST(Partition, ARowOfThousandsIsExact) {
  PartitionProblem problem{.items = 5000};
  for (int i = 0; i < problem.items; ++i) {
    problem.options.push_back({{i}, 2, {}});
    if (i + 1 < problem.items) problem.options.push_back({{i, i + 1}, 3, {}});
    if (i + 2 < problem.items) problem.options.push_back({{i, i + 1, i + 2}, 4, {}});
  }
  const auto found = Must(SolvePartition(problem));
  EXPECT_TRUE(found.exact);
  EXPECT_EQ(found.seconds, 4 * (5000 / 3) + 3);  // 1666 threes and a pair
}

}  // namespace
}  // namespace hone::graph
