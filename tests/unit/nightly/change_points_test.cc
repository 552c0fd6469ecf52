#include "nightly/change_points.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.h"

namespace hone::nightly {
namespace {

// Nights on the given levels, `each` nights a level, with one percent of noise.
std::vector<double> Series(const std::vector<double>& levels, int each, uint64_t seed) {
  Rng rng(seed);
  std::vector<double> series;
  for (double level : levels) {
    for (int i = 0; i < each; ++i) series.push_back(level * std::exp(0.01 * rng.Normal()));
  }
  return series;
}

void ExpectNear(size_t index, size_t wanted, double most) {
  EXPECT_NEAR(static_cast<double>(index), static_cast<double>(wanted), most);
}

TEST(ChangePoints, FindsAStepAndDatesIt) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const auto points = FindChangePoints(Series({1, 1.05}, 30, seed));
    ASSERT_EQ(points.size(), 1u) << seed;
    ExpectNear(points[0].index, 30, 1);
    EXPECT_NEAR(points[0].after / points[0].before, 1.05, 0.01);
  }
}

TEST(ChangePoints, FindsSeveralAcrossWindows) {
  const auto points = FindChangePoints(Series({1, 1.06, 0.97, 1.02}, 40, 7));
  ASSERT_EQ(points.size(), 3u);
  for (size_t i = 0; i < 3; ++i) ExpectNear(points[i].index, 40 * (i + 1), 2);
}

// A slow drift is no step, but over weeks it must be seen.
TEST(ChangePoints, SeesASlowDrift) {
  Rng rng(9);
  std::vector<double> series;
  for (int i = 0; i < 90; ++i) series.push_back((1 + 0.001 * i) * std::exp(0.005 * rng.Normal()));
  EXPECT_GE(FindChangePoints(series).size(), 1u);
}

TEST(ChangePoints, NoiseAloneHasHardlyAny) {
  int found = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) found += !FindChangePoints(Series({1}, 90, seed)).empty();
  EXPECT_LE(found, 4);
}

TEST(ChangePoints, OneWildNightAndShortOrEqualSeriesHaveNone) {
  auto series = Series({1}, 60, 3);
  series[30] = 4;
  for (const std::vector<double>& none : {series, {}, {1, 1, 2}, std::vector<double>(90, 1.5)})
    EXPECT_TRUE(FindChangePoints(none).empty()) << none.size();
}

TEST(ChangePoints, NightsWithoutAFigureAreSkipped) {
  auto series = Series({1, 1.1}, 20, 4);
  series.insert(series.begin() + 5, 3, 0);
  series.push_back(std::nan(""));
  const auto points = FindChangePoints(series);
  ASSERT_EQ(points.size(), 1u);
  ExpectNear(points[0].index, 23, 1);
}

TEST(ChangePoints, SmallChangesAreNotTold) {
  for (const double level : {1.005, 1.011}) {
    std::vector<double> series(30, 1.0);
    series.insert(series.end(), 30, level);
    EXPECT_EQ(FindChangePoints(series).size(), level > 1.01 ? 1u : 0u) << level;
  }
}

}  // namespace
}  // namespace hone::nightly
