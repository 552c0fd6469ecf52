// The constants of AutoTVM's tuners, as its sources (v0.14) have them.
#include "common/expect.h"
#include "search/tuner/ga_tuner.h"
#include "search/tuner/xgb_tuner.h"

namespace hone::search {
namespace {

TEST(LikeAutotvm, TheGeneticTunersPopulationElitesAndMutation) {
  const GaOptions options = GaOptions::LikeAutotvm();
  EXPECT_EQ(options.population, 100);
  EXPECT_EQ(options.elites, 3);
  EXPECT_EQ(options.mutation, 0.1);
  EXPECT_EQ(options.newcomers, 0) << "all of a generation are children";
  EXPECT_EQ(options.pressure, 1) << "chosen in proportion to the speed";
}

TEST(LikeAutotvm, ThePlansOfXgb) {
  for (const Loss loss : {Loss::kReg, Loss::kRank, Loss::kRankBinary}) {
    for (const FeatureKind features : {FeatureKind::kKnob, FeatureKind::kItervar, FeatureKind::kCurve}) {
      const XgbTunerOptions options = XgbTunerOptions::LikeAutotvm(loss, features);
      EXPECT_EQ(options.features, features);
      EXPECT_EQ(options.plan_size, 64);
      EXPECT_EQ(static_cast<int>(options.random_share * options.plan_size), 3);
      EXPECT_LT(options.diversity_ratio, 1) << "no filter by default";
      EXPECT_FALSE(options.log_labels) << "the share of the best speed";
      EXPECT_EQ(options.score_whole_up_to, 0U) << "the space is walked, however small it is";
      EXPECT_EQ(options.anneal.iterations, 500);
      EXPECT_EQ(options.anneal.walkers, 128);
      EXPECT_EQ(options.anneal.patience, 50);
      EXPECT_FALSE(options.anneal.scale_score);
      EXPECT_TRUE(options.keep_walkers);
    }
  }
}

TEST(LikeAutotvm, TheModelOfXgb) {
  for (const Loss loss : {Loss::kReg, Loss::kRank, Loss::kRankBinary}) {
    const XgbTunerOptions options = XgbTunerOptions::LikeAutotvm(loss, FeatureKind::kItervar);
    EXPECT_EQ(options.model.loss, loss);
    EXPECT_EQ(options.model.rounds, 8000);
    EXPECT_EQ(options.model.depth, 3);
    EXPECT_EQ(options.model.learning_rate, 0.3);
    EXPECT_EQ(options.model.min_split_gain, 1e-4);
    EXPECT_EQ(options.model.min_child_weight, 1);
    EXPECT_EQ(options.model.subsample, 1);
    EXPECT_EQ(options.model.column_sample, 1);
    EXPECT_EQ(options.model.recall_of, 64) << "the plan";
    EXPECT_EQ(options.model.patience, 20);
    EXPECT_EQ(options.model.good_share, 0.5);
    EXPECT_TRUE(options.model.binary_in_recall_only);
    EXPECT_EQ(options.base_rounds, 400);
    EXPECT_EQ(options.least_donor_trials, 500U);
    EXPECT_EQ(options.discount_trials, 64);
  }
}

}  // namespace
}  // namespace hone::search
