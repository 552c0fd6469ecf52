// The xgb tuner: boosted trees, trained on the whole history before each round, and simulated annealing over their
// predictions. The plan of a round has the best points of the annealing, thinned for diversity, and a few random points
// at its end. Before the first success the plan is random, or follows the donors.
//
// Donors: a base model learns from all their trials: each donor's speeds as shares of its own best. With rank losses
// each donor is a group, and so is this task. The model starts from the base predictions as margins, for learning and
// for scoring, times a discount that halves every `discount_trials` trials and ends below 0.05.
//
// Differences from AutoTVM's tuner, whose constants LikeAutotvm() has: margins stay with their rows; a plan keeps
// points of negative score; the random share of a plan does not depend on the batch size; small spaces are scored
// completely.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "search/cost/xgb_model.h"
#include "search/tuner/anneal.h"
#include "search/tuner/feature_rows.h"
#include "search/tuner/plan_tuner.h"
#include "search/tuner/points.h"

namespace hone::search {

struct XgbTunerOptions {
  std::string name = "xgb";
  FeatureKind features = FeatureKind::kKnob;
  int plan_size = 16;
  double random_share = 0.05;     // of a plan; at least one point if above 0
  double diversity_ratio = 2;     // the plan is selected from this many times its points; below 1: no selection
  double diversity_weight = 0.3;  // anneal.h
  bool log_labels = true;         // learns the logarithm of the share of the best speed; else the share
  AnnealOptions anneal;
  bool keep_walkers = false;     // they continue where they stood at the end of the last round
  size_t score_whole_up_to = 0;  // legal points: smaller spaces are scored completely instead of annealed
  XgbOptions model;
  int base_rounds = 200;           // for the model of the donors
  size_t least_donor_trials = 16;  // a donor with fewer trials, or without success, is not used
  double discount_trials = 32;

  static XgbTunerOptions Ours(Loss loss, FeatureKind features);
  static XgbTunerOptions LikeAutotvm(Loss loss, FeatureKind features);
};

class XgbTuner : public PlanTuner {
 public:
  // REQUIRES: CheckXgb(), and context.loops for features of loops.
  XgbTuner(const TaskSpace& space, uint64_t seed, const TunerContext& context, const XgbTunerOptions& options);
  const char* name() const override { return options_.name.c_str(); }

 protected:
  std::vector<PointIndex> Plan(int64_t round, const std::vector<Outcome>& history) override;

 private:
  std::vector<PointIndex> PlanOne(int64_t round, const std::vector<Outcome>& history);
  void LearnFromDonors();
  float Label(float share) const;
  // The scorer of a round. Returns nothing if there is no data, or if learning failed.
  std::optional<ScoreFunction> Learn(const std::vector<Outcome>& history);
  std::vector<float> BasePredict(const std::vector<std::vector<float>>& rows) const;

  const TaskSpace& space_;
  const uint64_t seed_;
  const TunerContext context_;
  const XgbTunerOptions options_;
  const Points points_;
  const std::unique_ptr<FeatureRows> features_;
  bool looked_at_donors_ = false;
  std::unique_ptr<CostModel> base_;  // null without donors
  size_t base_columns_ = 0;
  std::unique_ptr<CostModel> model_;
  std::vector<PointIndex> walkers_;
  int64_t planned_ = 0;  // rounds for which walkers_ has moved
};

}  // namespace hone::search
