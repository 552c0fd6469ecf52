#include "base/statistics.h"

#include "common/expect.h"

namespace hone {
namespace {

TEST(Median, OfOddEvenAndNone) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({5, 1, 3}), 3);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
}

TEST(QuantileLinear, LiesBetweenSamples) {
  EXPECT_EQ(QuantileLinear({}, 0.5), 0);
  EXPECT_DOUBLE_EQ(QuantileLinear({7}, 0.9), 7);
  EXPECT_DOUBLE_EQ(QuantileLinear({4, 1, 3, 2}, 0.1), 1.3);
  EXPECT_DOUBLE_EQ(QuantileLinear({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(QuantileLinear({4, 1, 3, 2}, 1), 4);
}

TEST(QuantileNearest, IsASample) {
  EXPECT_EQ(QuantileNearest({}, 0.5), 0);
  EXPECT_EQ(QuantileNearest({4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(QuantileNearest({4, 1, 3, 2}, 0.5), 3);  // the upper one in a tie
  EXPECT_EQ(QuantileNearest({4, 1, 3, 2}, 0.75), 3);
}

TEST(LowerQuartile, IsTheLinearQuantileOfAQuarter) {
  EXPECT_EQ(LowerQuartile({}), 0);
  EXPECT_EQ(LowerQuartile({5, 1, 3, 2, 4}), 2);
  EXPECT_EQ(LowerQuartile({900, 1, 3}), 2);
}

// AutoTVM drops the smallest and the largest of more than two costs, and takes the mean.
TEST(TrimmedMean, LeavesOutTheExtremesOfMoreThanTwo) {
  EXPECT_EQ(TrimmedMean({}), 0);
  EXPECT_EQ(TrimmedMean({3}), 3);
  EXPECT_EQ(TrimmedMean({4, 1}), 2.5);
  EXPECT_EQ(TrimmedMean({9, 1, 2}), 2);
  EXPECT_EQ(TrimmedMean({100, 2, 1, 6, 4}), 4);
}

// Ranks from Conover's table for 95 %: n=10 -> 2nd and 9th, n=20 -> 6th and 15th; below n=6 no ranks suffice.
TEST(MedianInterval, RanksOfTheTable) {
  const auto ranks = [](int n) {
    std::vector<double> v;
    for (int i = n; i >= 1; --i) v.push_back(i);
    return MedianInterval(v, 0.95);
  };
  EXPECT_EQ(ranks(10).low, 2);
  EXPECT_EQ(ranks(10).high, 9);
  EXPECT_EQ(ranks(20).low, 6);
  EXPECT_EQ(ranks(20).high, 15);
  EXPECT_EQ(ranks(6).low, 1);
  EXPECT_EQ(ranks(6).high, 6);
  EXPECT_EQ(ranks(3).low, 1);
  EXPECT_EQ(ranks(3).high, 3);
}

TEST(UnsteadyTest, TheMedianIsFarAboveTheFastestRuns) {
  EXPECT_FALSE(Unsteady({1, 1.02, 1.02, 1.01, 1.02}));
  EXPECT_FALSE(Unsteady({1, 1, 1, 1.5, 2})) << "slow runs that the median leaves out";
  EXPECT_TRUE(Unsteady({1, 1, 1.3, 1.3, 1.3}));
  EXPECT_FALSE(Unsteady({1, 1.3, 1.3, 1.3})) << "too few";
}

}  // namespace
}  // namespace hone
