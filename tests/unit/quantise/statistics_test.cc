#include "quantise/statistics.h"

#include "base/rng.h"
#include "common/expect.h"

namespace hone::quantise {
namespace {

TensorType Float(std::vector<int64_t> shape) { return {DType::Float(32), std::move(shape)}; }

TEST(Statistics, HasExtremesAndMeansOfChannels) {
  Statistics s(Float({2, 2, 1, 2}));
  ASSERT_TRUE(s.AddValues(std::vector<float>{1, 2, -8, 4, 3, 4, 0, 0}));
  ASSERT_TRUE(s.AddValues(std::vector<float>{0, 0, 5, 5, 0, 6, 5, 5}));
  EXPECT_EQ(s.least(), -8);
  EXPECT_EQ(s.most(), 6);
  EXPECT_EQ(s.Magnitude(), 8);
  EXPECT_THAT(s.Means(), ElementsAre(2, 2));
  Statistics rows(Float({2, 3}));
  ASSERT_TRUE(rows.AddValues(std::vector<float>{1, 2, 3, 3, 4, 5}));
  EXPECT_THAT(rows.Means(), ElementsAre(2, 3, 4));
}

TEST(Statistics, ValuesThatAreNotFiniteAreSeen) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Statistics s(Float({1, 4}));
    EXPECT_FALSE(s.AddValues(std::vector<float>{1, bad, 2, 3}));
  }
}

TEST(Statistics, HistogramIsOfMagnitudes) {
  Statistics s(Float({1, 4}));
  const std::vector<float> values = {-1, 0, 0.5, 1};
  ASSERT_TRUE(s.AddValues(values));
  s.AddToHistogram(values);
  EXPECT_EQ(s.histogram()[0], 1U);
  EXPECT_EQ(s.histogram()[kBins / 2], 1U);
  EXPECT_EQ(s.histogram()[kBins - 1], 2U);
}

// Many values with a bell curve's density up to about 4, and a few outliers at 100.
Statistics WithOutliers() {
  Rng rng(5);
  std::vector<float> values(40000);
  for (float& v : values) {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += rng.UniformDouble();
    v = static_cast<float>(sum - 6);
  }
  values[17] = 100, values[4711] = -90;
  Statistics s(Float({1, static_cast<int64_t>(values.size())}));
  EXPECT_TRUE(s.AddValues(values));
  s.AddToHistogram(values);
  return s;
}

TEST(ChooseLimit, FollowsTheMethod) {
  const Statistics s = WithOutliers();
  EXPECT_EQ(ChooseLimit(s, Method::kMax, 99.99), 100);
  EXPECT_LT(ChooseLimit(s, Method::kPercentile, 99.9), 5);
  EXPECT_GT(ChooseLimit(s, Method::kPercentile, 99.9), 2.5);
  EXPECT_EQ(ChooseLimit(s, Method::kPercentile, 100), 100);
  const float kl = ChooseLimit(s, Method::kKl, 99.99);
  EXPECT_LT(kl, 10);  // 128 bins are 6.25
  EXPECT_GT(kl, 2.5);
}

TEST(ChooseLimit, OfZerosIsZero) {
  Statistics s(Float({1, 2}));
  ASSERT_TRUE(s.AddValues(std::vector<float>{0, 0}));
  s.AddToHistogram(std::vector<float>{0, 0});
  for (const Method method : {Method::kMax, Method::kPercentile, Method::kKl}) EXPECT_EQ(ChooseLimit(s, method, 99), 0);
}

TEST(KlBins, KeepsAnEvenDistributionWhole) { EXPECT_EQ(KlBins(std::vector<uint64_t>(kBins, 7)), kBins); }

TEST(KlBins, ZerosDoNotCount) {
  std::vector<uint64_t> bins(kBins, 7);
  bins[0] = 1'000'000'000;
  EXPECT_EQ(KlBins(bins), kBins);
}

}  // namespace
}  // namespace hone::quantise
