// How the tuner `auto` uses donors, on invented surfaces.
#include "search/tuner/auto_donors.h"

#include "search/tuner/auto_points.h"
#include "surface.h"

namespace hone::search {
namespace {

// Donors know that c = 6 and d = 2 are best; the estimate does not.
TEST(Auto, DonorsSayWhatTheEstimateDoesNot) {
  const TaskSpace space = SurfaceSpace();
  TunerContext context = Estimating([](const Config&) { return 1.0; });
  const double alone = BestSeconds(space, Search(space, OnSurface, 8, 1, context), OnSurface);
  context.donors = {DonorOf(space, 13, [](const Config& c) { return 7 * SurfaceSeconds(c); })};
  const double helped = BestSeconds(space, Search(space, OnSurface, 8, 1, context), OnSurface);
  EXPECT_LT(helped, 1.3e-3);
  EXPECT_LT(helped, alone);
}

// The same without an estimate, as on GPUs. Knobs are matched by name; the donor's space has them in another order and
// with one more value.
TEST(Auto, DonorsOfTemplatesWithoutAnEstimateAreLearntFrom) {
  const TaskSpace space = SurfaceSpace();
  Space other("surface");
  for (const char* name : {"d", "c", "b", "a"}) other.Add(Knob::Choice(name, Numbers(1, 9)));
  TunerContext context;
  context.workload.op = "surface";
  const Donor donor = DonorOf(TaskOf(std::move(other)), 13, [](const Config& c) { return 7 * SurfaceSeconds(c); });
  context.donors = {donor, donor};
  for (const bool known_to_be_unknown : {false, true}) {
    if (known_to_be_unknown)
      context.estimate = [](const Workload&) { return [](const Config&) { return std::vector<double>(); }; };
    const AutoPoints points = MakeAutoPoints(space, context, 1, 1 << 22, 100000);
    const DonorModel donors(points, space, context);
    ASSERT_FALSE(donors.empty());
    const auto correction = [&](uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
      return donors.Correction(points.Find((a - 1) + 8 * (b - 1) + 64 * (c - 1) + 512 * (d - 1)));
    };
    EXPECT_LT(correction(3, 6, 6, 2), correction(1, 1, 6, 2));
    EXPECT_LT(correction(3, 6, 6, 2), correction(3, 6, 1, 2));
    EXPECT_LT(correction(3, 6, 6, 2), correction(3, 6, 6, 8));
    EXPECT_LT(BestSeconds(space, Search(space, OnSurface, 8, 1, context), OnSurface), 1.5e-3);
  }
}

// A model has 256 columns at most. Words beyond them do not count, and knobs with more numbers do not reach into others.
TEST(Auto, DonorsWithMoreWordsThanColumnsAreLearntFrom) {
  const TaskSpace space = SurfaceSpace();
  TunerContext context;
  context.workload.op = "surface";
  Donor donor = DonorOf(space, 3, [](const Config& c) { return 7 * SurfaceSeconds(c); });
  size_t number = 0;
  for (Outcome& outcome : donor.outcomes) {
    outcome.config.values.push_back({"word", KnobKind::kOther, {}, {"w" + std::to_string(number++)}});
    outcome.config.values.push_back({"aa", KnobKind::kSplit, std::vector<int64_t>(2 + number % 3, 4), {}});
  }
  ASSERT_GT(number, 900U);
  context.donors = {donor};
  const AutoPoints points = MakeAutoPoints(space, context, 1, 1 << 22, 100000);
  const DonorModel donors(points, space, context);
  ASSERT_FALSE(donors.empty());
  EXPECT_LT(donors.Correction(points.Find(2 + 8 * 5 + 64 * 5 + 512 * 1)), donors.Correction(points.Find(0)));
}

// Donors may be wrong: measurements overrule them.
TEST(Auto, WrongDonorsAreGivenUp) {
  const TaskSpace space = SurfaceSpace();
  TunerContext context = Estimating([](const Config& c) { return std::log(SurfaceSeconds(c)); });
  const std::vector<PointIndex> alone = Search(space, OnSurface, 4, 1, context);
  context.donors = {DonorOf(space, 13, [](const Config& c) { return 1e-6 / SurfaceSeconds(c); })};
  const std::vector<PointIndex> tried = Search(space, OnSurface, 24, 1, context);
  EXPECT_NE((std::vector<PointIndex>(tried.begin(), tried.begin() + 4)), alone) << "they were believed at first";
  EXPECT_LT(BestSeconds(space, tried, OnSurface), 1.1e-3);
}

TEST(DonorTrust, IsTheSlopeOfResiduals) {
  const auto slope = [](double factor, int trials) {
    DonorTrust trust;
    for (int i = 0; i < trials; ++i) trust.Add(0.1 * i, 7 + factor * 0.1 * i, 1);
    return trust.Slope();
  };
  const double at_first = slope(1, 0);
  EXPECT_GT(at_first, 0.5);
  EXPECT_LT(at_first, 1);
  EXPECT_EQ(slope(-3, 1), at_first) << "one trial has no slope";
  EXPECT_NEAR(slope(0.5, 20), 0.5, 0.02);
  EXPECT_GT(slope(1, 4), at_first);
  EXPECT_EQ(slope(-1, 8), 0);
  EXPECT_EQ(slope(3, 20), 1) << "never more than the donors say";
  // Trials of little weight change little.
  DonorTrust doubted;
  for (int i = 0; i < 8; ++i) doubted.Add(0.1 * i, -0.1 * i, 1e-3);
  EXPECT_NEAR(doubted.Slope(), at_first, 0.05);
}

// The second of two donors contradicts the first.
TEST(Auto, DonorsThatContradictEachOtherSayLittle) {
  const TaskSpace space = SurfaceSpace();
  TunerContext context = Estimating([](const Config&) { return 1.0; });
  const auto correction = [&](const std::vector<double>& signs) {
    context.donors.clear();
    for (const double sign : signs) {
      context.donors.push_back(DonorOf(
          space, 13, [&](const Config& c) { return std::exp(0.05 * sign * static_cast<double>(c.Number("c"))); }));
    }
    const AutoPoints points = MakeAutoPoints(space, context, 1, 1 << 22, 100000);
    const DonorModel donors(points, space, context);
    std::vector<float> all;
    for (size_t r = 0; r < points.rows(); ++r) all.push_back(donors.Correction(r));
    const auto [low, high] = std::minmax_element(all.begin(), all.end());
    return *high - *low;
  };
  const float agreed = correction({1, 1});
  EXPECT_GT(agreed, 0.1);
  EXPECT_GT(correction({1}), 0.9F * agreed);
  EXPECT_LT(correction({1, -1}), 0.5F * agreed);
}

TEST(ChooseTrials, TakesTheFastestHalfAndOthersEvenly) {
  EXPECT_EQ(ChooseTrials({0, 3, 1, 2, 2.8}, 128), (std::vector<size_t>{2, 3}));
  EXPECT_TRUE(ChooseTrials({0, 0}, 128).empty());
  std::vector<double> seconds;
  for (int i = 0; i < 600; ++i) seconds.push_back(1 + i * 1e-3);
  const std::vector<size_t> chosen = ChooseTrials(seconds, 128);
  ASSERT_EQ(chosen.size(), 128U);
  EXPECT_EQ(chosen[63], 63U);
  EXPECT_GT(chosen.back(), 580U);
  EXPECT_EQ(ChooseTrials({1, 1.1, 1.2, 1.3, 1.4}, 3), (std::vector<size_t>{0, 1, 3}));
}

}  // namespace
}  // namespace hone::search
