#include "nightly/environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace hone::nightly {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A night whose canary takes `canary` seconds, and the library twice `relative` as long.
Night WithCanary(double canary, double relative = 1, const char* fingerprint = "f1") {
  Night night;
  night.fingerprint = fingerprint;
  night.library = {"aa", {2 * relative * canary}};
  night.reference = {"bb", {2 * canary}};
  night.canary = Subject{"cc", {canary}};
  return night;
}

// Nights at about this level: 0.1 % apart.
std::vector<Night> Level(double canary, int nights, double relative = 1) {
  std::vector<Night> out;
  for (int i = 0; i < nights; ++i) out.push_back(WithCanary(canary * (1 + 0.001 * (i % 3 - 1)), relative));
  return out;
}

std::vector<Night> operator+(std::vector<Night> a, const std::vector<Night>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(Environment, ASingleNightOffItsLevelIsMarkedAndForgotten) {
  const std::vector<Night> nights = Level(0.01, 6), after = nights + Level(0.0105, 1);
  EXPECT_THAT(EnvironmentMoved(nights, WithCanary(0.0105)), HasSubstr("+5.0 % from its level of 6 nights"));
  EXPECT_EQ(EnvironmentMoved(nights, WithCanary(0.0101)), "");
  EXPECT_EQ(EnvironmentMoved(after, WithCanary(0.01)), "");
  EXPECT_THAT(Epochs(after + Level(0.01, 2)), ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0));
}

TEST(Environment, TwoNightsAtAnotherLevelAreANewEpochFromTheFirstOfThem) {
  const std::vector<Night> nights = Level(0.01, 6) + Level(0.0105, 1);
  EXPECT_EQ(EnvironmentMoved(nights, WithCanary(0.0105)), "");
  EXPECT_THAT(Epochs(nights + Level(0.0105, 3)), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1, 1));
  // The same with a failed night between them.
  Night failed;
  failed.fingerprint = "f1";
  failed.failure = "crashed";
  EXPECT_THAT(Epochs(nights + std::vector<Night>{failed} + Level(0.0105, 1)), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 1));
  // Two wild nights that do not agree are none.
  EXPECT_NE(EnvironmentMoved(nights, WithCanary(0.012)), "");
  EXPECT_EQ(Epochs(nights + Level(0.012, 1)).back(), 0);
}

TEST(Environment, AnotherFingerprintBeginsAnEpochWithoutAnAlarm) {
  const Night other = WithCanary(0.02, 1, "f2");
  EXPECT_EQ(EnvironmentMoved(Level(0.01, 6), other), "");
  EXPECT_THAT(Epochs(Level(0.01, 6) + std::vector<Night>{other}), ElementsAre(0, 0, 0, 0, 0, 0, 1));
}

TEST(Environment, TooFewNightsOrAnotherCanarySayNothing) {
  EXPECT_EQ(EnvironmentMoved(Level(0.01, 4), WithCanary(0.02)), "");
  EXPECT_EQ(EnvironmentMoved({}, WithCanary(0.02)), "");
  Night other = WithCanary(0.02);
  other.canary->digest = "dd";
  EXPECT_EQ(EnvironmentMoved(Level(0.01, 6), other), "");
  other.canary.reset();
  EXPECT_EQ(EnvironmentMoved(Level(0.01, 6), other), "");
}

TEST(Trend, IsOfTheLibraryAndNotOfTheMachine) {
  // The machine gets 10 % slower in the middle, the library 3 % later on.
  std::vector<Night> nights = Level(0.01, 15) + Level(0.011, 12) + Level(0.011, 12, 1.03);
  // Enough difference between nights for ranks.
  for (size_t i = 0; i < nights.size(); ++i)
    nights[i].library.processes[0] *= 1 + 1e-4 * std::sin(static_cast<double>(i));
  const Trend trend = TrendOf(nights);
  ASSERT_EQ(trend.values.size(), nights.size());
  EXPECT_NEAR(trend.values[0], 2, 0.001);
  EXPECT_NEAR(trend.values[20], 2, 0.001);
  EXPECT_EQ(trend.epochs[14], 0);
  EXPECT_EQ(trend.epochs[15], 1);
  ASSERT_EQ(trend.changes.size(), 1u);
  EXPECT_EQ(trend.changes[0].index, 27u);
  EXPECT_NEAR(trend.changes[0].after / trend.changes[0].before, 1.03, 0.001);
}

TEST(Trend, NightsWithoutAFigureAreGaps) {
  std::vector<Night> nights = Level(0.01, 3);
  nights[1].environment = "busy";
  nights[2].canary.reset();
  EXPECT_THAT(TrendOf(nights).values, ElementsAre(testing::Gt(0), 0, 0));
  EXPECT_TRUE(TrendOf({}).values.empty());
}

}  // namespace
}  // namespace hone::nightly
