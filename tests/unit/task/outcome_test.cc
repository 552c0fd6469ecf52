#include "task/outcome.h"

#include <gtest/gtest.h>

namespace hone {
namespace {

TEST(Outcome, NamesReadBack) {
  for (TrialState s : {TrialState::kOk, TrialState::kPruned, TrialState::kFailed}) EXPECT_EQ(*ParseTrialState(TrialStateName(s)), s);
  for (TrialError e : {TrialError::kNone, TrialError::kInvalid, TrialError::kCompile, TrialError::kTimeout, TrialError::kCrash,
                       TrialError::kWrong, TrialError::kDevice}) {
    EXPECT_EQ(*ParseTrialError(TrialErrorName(e)), e);
  }
  EXPECT_FALSE(ParseTrialState("fine").ok());
  EXPECT_FALSE(ParseTrialError("fine").ok());
}

TEST(Median, OfOddEvenAndNone) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({5, 1, 3}), 3);
  EXPECT_EQ(Median({4, 1, 3, 2}), 2.5);
}

// Ranks from the table of Conover for 95 %: n=10 -> 2nd and 9th, n=20 -> 6th and 15th; below n=6 nothing covers.
// AutoTVM drops the smallest and the largest of more than two costs, and takes the mean.
TEST(TrimmedMean, LeavesOutTheExtremesOfMoreThanTwo) {
  EXPECT_EQ(TrimmedMean({}), 0);
  EXPECT_EQ(TrimmedMean({3}), 3);
  EXPECT_EQ(TrimmedMean({4, 1}), 2.5);
  EXPECT_EQ(TrimmedMean({9, 1, 2}), 2);
  EXPECT_EQ(TrimmedMean({100, 2, 1, 6, 4}), 4);
}

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

}  // namespace
}  // namespace hone
