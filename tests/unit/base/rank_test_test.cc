#include "base/rank_test.h"

#include "base/rng.h"
#include "common/expect.h"

namespace hone {
namespace {

using Values = std::vector<double>;

Values Drawn(Rng* rng, int count, double shift = 0) {
  Values values;
  for (int i = 0; i < count; ++i) values.push_back(rng->Normal() + shift);
  return values;
}

// 2 of the C(14, 7) = 3432 splits are at least as uneven.
TEST(MannWhitney, SevenAgainstSevenApart) {
  const Values low = {1, 2, 3, 4, 5, 6, 7}, high = {8, 9, 10, 11, 12, 13, 14};
  EXPECT_NEAR(MannWhitneyP(low, high), 2.0 / 3432, 1e-12);
  EXPECT_NEAR(MannWhitneyP(high, low), 2.0 / 3432, 1e-12);
}

// Hollander and Wolfe's example of permeability constants: W = 35, one-sided p = 0.1272.
TEST(MannWhitney, APublishedExample) {
  const Values x = {0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
  const Values y = {1.15, 0.88, 0.90, 0.74, 1.21};
  EXPECT_NEAR(MannWhitneyP(x, y), 2 * 0.1272, 2e-4);
  EXPECT_DOUBLE_EQ(MannWhitneyP(x, y), MannWhitneyP(y, x));
}

TEST(MannWhitney, NothingToTell) {
  EXPECT_EQ(MannWhitneyP({3, 3, 3}, {3, 3, 3, 3}), 1);
  EXPECT_EQ(MannWhitneyP({1, 4}, {2, 3}), 1);
}

// All splits of the values into 4 and 5, counted one by one.
TEST(MannWhitney, TiesAsCountedByHand) {
  const Values all = {1, 2, 2, 2, 3, 4, 4, 5, 6}, ranks = {1, 3, 3, 3, 5, 6.5, 6.5, 8, 9};
  const unsigned chosen = 0b000010111;  // 1, 2, 2, 3
  const auto distance = [&](unsigned mask) {
    double total = 0;
    for (size_t i = 0; i < all.size(); ++i) total += mask >> i & 1 ? ranks[i] : 0;
    return std::abs(total - 4 * 45.0 / 9);  // from the mean
  };
  double far = 0, splits = 0;
  for (unsigned mask = 0; mask < 512; ++mask) {
    if (__builtin_popcount(mask) != 4) continue;
    ++splits;
    far += distance(mask) >= distance(chosen);
  }
  Values a, b;
  for (size_t i = 0; i < all.size(); ++i) (chosen >> i & 1 ? a : b).push_back(all[i]);
  EXPECT_NEAR(MannWhitneyP(a, b), far / splits, 1e-12);
}

TEST(MannWhitney, ChanceFlagsAsOftenAsItSays) {
  Rng rng(1);
  int flagged = 0;
  const int rounds = 4000;
  for (int round = 0; round < rounds; ++round) {
    const Values a = Drawn(&rng, 7), b = Drawn(&rng, 7);
    flagged += MannWhitneyP(a, b) < 0.05;
  }
  // The exact test never exceeds its level; with few values it stays below: 3.8 % is the table's next step.
  EXPECT_LT(flagged, 0.05 * rounds);
  EXPECT_GT(flagged, 0.025 * rounds);
}

TEST(Shift, IntervalsHoldTheTruthAsOftenAsTheySay) {
  Rng rng(2);
  int inside = 0, narrow = 0;
  const int rounds = 2000;
  for (int round = 0; round < rounds; ++round) {
    const Values a = Drawn(&rng, 7), b = Drawn(&rng, 7, 3);
    const Shift shift = EstimateShift(a, b, 0.95);
    inside += shift.low <= 3 && 3 <= shift.high;
    narrow += shift.high - shift.low < 3;
    EXPECT_LE(shift.low, shift.estimate);
    EXPECT_LE(shift.estimate, shift.high);
  }
  EXPECT_GE(inside, 0.945 * rounds);
  EXPECT_LT(inside, 0.98 * rounds);
  EXPECT_GT(narrow, 0.7 * rounds);
}

TEST(Shift, TooFewForTheConfidenceGivesTheWholeRange) {
  const Shift shift = EstimateShift({1, 2}, {10, 20}, 0.99);
  EXPECT_EQ(shift.low, 8);
  EXPECT_EQ(shift.high, 19);
  EXPECT_EQ(shift.estimate, 13.5);
}

}  // namespace
}  // namespace hone
