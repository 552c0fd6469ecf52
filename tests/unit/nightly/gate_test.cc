#include "nightly/gate.h"

#include "base/rng.h"
#include "common/expect.h"

namespace hone::nightly {
namespace {

using Values = std::vector<double>;

const Values kReference = {1.000, 1.002, 1.004, 0.998, 0.999, 1.003, 1.001};

Values Times(Values values, double factor) {
  for (double& value : values) value *= factor;
  return values;
}

TEST(Gate, ALargeChangeCounts) {
  const Comparison slower = Compare(Times(kReference, 1.05), kReference, {});
  EXPECT_EQ(slower.change, Change::kSlower);
  EXPECT_NEAR(slower.ratio, 1.05, 0.003);
  EXPECT_LT(slower.low, 1.05);
  EXPECT_GT(slower.high, 1.05);
  EXPECT_GT(slower.low, 1.04);
  EXPECT_EQ(Compare(Times(kReference, 0.95), kReference, {}).change, Change::kFaster);
}

TEST(Gate, BelowTwoPercentIsNoChangeHoweverCertain) {
  const Comparison c = Compare(Times(kReference, 1.015), kReference, {});
  EXPECT_EQ(c.change, Change::kNone);
  EXPECT_LT(c.p, 0.001);
  EXPECT_THAT(c.why, HasSubstr("within 2.0 %"));
}

TEST(Gate, ALargeDifferenceThatMayBeChanceIsNone) {
  const Comparison c = Compare({1.2, 0.9, 1.1, 1.05, 0.97, 1.3, 0.99}, {1.0, 1.2, 0.9, 0.95, 1.1, 1.0, 0.98}, {});
  EXPECT_EQ(c.change, Change::kNone);
  EXPECT_THAT(c.why, HasSubstr("may be chance"));
}

// If equal libraries differ by 2 % (robust deviation), 5 % is not significant.
TEST(Gate, TheNetworksOwnNoiseRaisesTheThreshold) {
  const Values noisy = {0.98, 1.02, 1.0, 0.97, 1.03, 1.01, 0.99};
  const Comparison c = Compare(Times(kReference, 1.05), kReference, noisy);
  EXPECT_EQ(c.change, Change::kNone);
  EXPECT_NEAR(c.threshold, 4 * RobustDeviation(noisy), 1e-12);
  EXPECT_GT(c.threshold, 0.05);
  // Four nights are not enough to know the noise.
  EXPECT_EQ(Compare(Times(kReference, 1.05), kReference, {0.9, 1.1, 0.8, 1.2}).change, Change::kSlower);
}

// Seven processes each, spread over 10 %: the interval is equally wide.
TEST(Gate, AnIntervalThatIsTooWideSaysNothing) {
  const Values wide = {1.00, 1.02, 1.04, 1.06, 1.08, 1.09, 1.10};
  EXPECT_TRUE(TooWide(Compare(wide, wide, {})));
  EXPECT_FALSE(TooWide(Compare(kReference, kReference, {})));
  EXPECT_FALSE(TooWide(Compare(Times(wide, 1.5), wide, {}))) << "a change that was seen";
  EXPECT_FALSE(TooWide(Compare({1, 1}, {1, 1}, {}))) << "too few say so themselves";
}

TEST(Gate, TooLittleDecidesNothing) {
  EXPECT_THAT(Compare({1, 1, 1, 1}, kReference, {}).why, HasSubstr("too few processes: 4 and 7"));
  for (const double odd : {std::numeric_limits<double>::quiet_NaN(), 0.0}) {
    Values broken = Times(kReference, 2);
    broken[3] = odd;
    EXPECT_EQ(Compare(broken, kReference, {}).change, Change::kNone);
  }
}

TEST(Gate, RobustDeviationIgnoresOneWildNight) {
  Rng rng(3);
  Values ratios;
  for (int i = 0; i < 400; ++i) ratios.push_back(std::exp(0.01 * rng.Normal()));
  EXPECT_NEAR(RobustDeviation(ratios), 0.01, 0.0015);
  ratios[7] = 5;
  EXPECT_NEAR(RobustDeviation(ratios), 0.01, 0.0015);
  EXPECT_EQ(RobustDeviation({1.3}), 0);
}

}  // namespace
}  // namespace hone::nightly
