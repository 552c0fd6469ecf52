// The tuner `ansor` beyond its first round, which is drawn.
#include <atomic>

#include "common/xgb.h"
#include "search/tuner/ansor_tuner.h"
#include "surface.h"

namespace hone::search {
namespace {

class AnsorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = NoXgb(); !why.empty()) GTEST_SKIP() << why;
  }

  std::vector<PointIndex> Tune(size_t trials, const TunerContext& context, const std::vector<PointIndex>& history = {},
                               size_t batch = 16) const {
    AnsorTuner tuner(space_, 3, context);
    return Propose(&tuner, space_, OnSurface, trials, batch, history);
  }

  // The median time of trials `begin` .. `end` - 1.
  double Middle(const std::vector<PointIndex>& tried, size_t begin, size_t end) const {
    std::vector<double> seconds;
    for (size_t i = begin; i < end; ++i) seconds.push_back(SurfaceSeconds(space_.At(tried[i])));
    std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
    return seconds[seconds.size() / 2];
  }

  const TaskSpace space_ = SurfaceSpace();
};

TEST(LikeAnsor, Constants) {
  const AnsorOptions options;
  EXPECT_EQ(options.round, 64);
  EXPECT_EQ(options.random_share, 0.05);
  EXPECT_EQ(options.population, 2048);
  EXPECT_EQ(options.measured_share, 0.2);
  EXPECT_EQ(options.generations, 4);
  EXPECT_EQ(options.mutation, 0.85);
  EXPECT_EQ(options.sizes, 0.9);
  EXPECT_EQ(options.unroll, 0.04);
  EXPECT_EQ(options.places, 0.05);
  EXPECT_EQ(options.threads, 0.01);
  EXPECT_EQ(options.model.loss, Loss::kPackSum);
  EXPECT_EQ(options.model.rounds, 10000);
  EXPECT_EQ(options.model.patience, 50);
  EXPECT_EQ(options.model.depth, 10);
  EXPECT_EQ(options.model.learning_rate, 0.2);
  EXPECT_EQ(options.model.min_split_gain, 1e-3);
  EXPECT_EQ(options.model.min_child_weight, 0);
}

TEST_F(AnsorTest, TheSecondRoundIsFasterThanTheDrawnFirst) {
  const std::vector<PointIndex> tried = Tune(128, SurfaceContext());
  ASSERT_EQ(IndexSet(tried.begin(), tried.end()).size(), 128U);
  EXPECT_LT(Middle(tried, 64, 125), 0.7 * Middle(tried, 0, 64));
  // The last three are drawn again.
  EXPECT_LT(Middle(tried, 64, 125), Middle(tried, 125, 128));
}

TEST_F(AnsorTest, GoesOnAfterAnyTrialOfALearntRound) {
  TunerContext context = SurfaceContext();
  const std::vector<PointIndex> all = Tune(140, context);
  context.threads = 3;
  for (const std::ptrdiff_t done : {0, 64, 100, 128}) {
    EXPECT_EQ(Tune(140, context, {all.begin(), all.begin() + done}, 7), all) << done;
  }
}

TEST_F(AnsorTest, DonorsAreLearntBeforeTheFirstRound) {
  TunerContext context = SurfaceContext();
  const double drawn = Middle(Tune(61, context), 0, 61);
  context.donors = {DonorOf(space_, 23, SurfaceSeconds)};
  EXPECT_LT(Middle(Tune(61, context), 0, 61), 0.7 * drawn);
}

TEST_F(AnsorTest, LowersAPointOnceAndPassesOverThoseThatCannotBe) {
  TunerContext context;
  std::atomic<int> lowered{0};
  context.loops = [&](const Workload& workload, const Config& config) -> Result<ir::Function> {
    ++lowered;
    if (config.Number("c") == 6) return Status::Invalid("c is 6");
    return SurfaceLoops(workload, config);
  };
  const std::vector<PointIndex> tried = Tune(128, context);
  EXPECT_LE(lowered, 2816) << "the legal points";
  EXPECT_GT(lowered, 1000);
  for (size_t i = 64; i < 125; ++i) EXPECT_NE(space_.At(tried[i]).Number("c"), 6);
}

}  // namespace
}  // namespace hone::search
