#include "common/expect.h"
#include "nightly/measure_night.h"

namespace hone::nightly {
namespace {

// A night whose canary takes `canary` seconds.
Night WithCanary(double canary, const char* fingerprint = "f1") {
  Night night;
  night.fingerprint = fingerprint;
  night.library = {"aa", {2 * canary}};
  night.reference = {"bb", {2 * canary}};
  night.canary = Subject{"cc", {canary}};
  return night;
}

// Nights at about this level: 0.1 % apart.
std::vector<Night> Level(double canary, int nights) {
  std::vector<Night> out;
  for (int i = 0; i < nights; ++i) out.push_back(WithCanary(canary * (1 + 0.001 * (i % 3 - 1))));
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
}

TEST(Environment, TwoNightsAtAnotherLevelAreANewMachine) {
  const std::vector<Night> nights = Level(0.01, 6) + Level(0.0105, 1);
  EXPECT_EQ(EnvironmentMoved(nights, WithCanary(0.0105)), "");
  // The same with a failed night between them.
  Night failed{.fingerprint = "f1", .failure = "crashed"};
  EXPECT_EQ(EnvironmentMoved(nights + std::vector<Night>{failed}, WithCanary(0.0105)), "");
  // From then on, the new level counts.
  EXPECT_THAT(EnvironmentMoved(nights + Level(0.0105, 5), WithCanary(0.01)), HasSubstr("from its level of 6 nights"));
  // Two outlying nights that disagree are no new level.
  EXPECT_NE(EnvironmentMoved(nights, WithCanary(0.012)), "");
}

TEST(Environment, AnotherFingerprintIsANewMachineWithoutAnAlarm) {
  EXPECT_EQ(EnvironmentMoved(Level(0.01, 6), WithCanary(0.02, "f2")), "");
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

}  // namespace
}  // namespace hone::nightly
