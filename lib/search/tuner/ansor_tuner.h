// The tuner `ansor`, for comparison: the search of TVM's auto_scheduler (v0.14) over Hone's spaces.
//
// A round is 64 trials. Its plan comes from a population: 2,048 drawn points and the fastest trials. A model scores it;
// four times, a new generation replaces it: parents are chosen in proportion to their scores, and most children change
// one knob (a decision of a sketch). The best points of all generations that were not tried are measured, and a few
// drawn ones. Boosted trees learn from the rows of store_features.h: the scores of a point's rows add up to its speed
// as a share of the best. The first round is drawn, unless there are donors, whose trials the model learns as well.
//
// doc/reference/tuners.md lists the differences from Ansor. Scores are kept for all points of a round, and rows for
// longer, so a point is lowered about once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "search/cost/xgb_model.h"
#include "search/tuner/feature_rows.h"
#include "search/tuner/plan_tuner.h"
#include "search/tuner/points.h"

namespace hone::search {

struct AnsorOptions {
  int round = 64;               // num_measures_per_round
  double random_share = 0.05;   // eps_greedy
  int population = 2048;        // evolutionary_search_population
  double measured_share = 0.2;  // sample_init_use_measured_ratio
  int generations = 4;          // evolutionary_search_num_iters
  double mutation = 0.85;       // evolutionary_search_mutation_prob
  // How often a mutation changes a knob of each kind; on GPUs only the first two, as 0.9 and 0.1.
  double sizes = 0.9, unroll = 0.04, places = 0.05, threads = 0.01;
  XgbOptions model = {.loss = Loss::kPackSum,
                      .rounds = 10000,
                      .depth = 10,
                      .learning_rate = 0.2,
                      .min_split_gain = 1e-3,
                      .min_child_weight = 0,
                      .exact = true,
                      .seed = 43,
                      .patience = 50};
};

class AnsorTuner : public PlanTuner {
 public:
  // REQUIRES: CheckXgb(), and context.loops.
  AnsorTuner(const TaskSpace& space, uint64_t seed, const TunerContext& context, const AnsorOptions& options = {});
  const char* name() const override { return "ansor"; }

 protected:
  std::vector<PointIndex> Plan(int64_t round, const std::vector<Outcome>& history) override;

 private:
  // Scores of the points of a round; nothing for points that cannot be lowered.
  using Scores = std::unordered_map<PointIndex, std::optional<float>, PointHash>;

  // The features of donors' trials, each with its share of its donor's best speed; at most 1,024.
  std::vector<std::pair<std::vector<float>, float>> DonorRows() const;
  // Null if there is nothing to learn from, or if learning failed.
  std::unique_ptr<CostModel> Learn(const std::vector<Outcome>& history);
  // Adds the missing scores.
  void Score(const CostModel& model, const std::vector<PointIndex>& points, Scores* scores);
  std::vector<PointIndex> NextGeneration(const std::vector<PointIndex>& parents, const Scores& scores, Rng* rng) const;
  // Another value for one knob; nothing if no tried one is legal.
  std::optional<PointIndex> Mutate(PointIndex index, Rng* rng) const;

  const TaskSpace& space_;
  const uint64_t seed_;
  const TunerContext context_;
  const AnsorOptions options_;
  const Points points_;
  const std::unique_ptr<FeatureRows> features_;
  std::optional<std::vector<std::pair<std::vector<float>, float>>> donors_;  // made once
};

}  // namespace hone::search
