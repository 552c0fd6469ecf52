#include "search/tuner/xgb_tuner.h"

#include <algorithm>
#include <cmath>

#include "base/log.h"

namespace hone::search {
namespace {

constexpr double kLeastDiscount = 0.05;
constexpr float kLeastShare = 0.125f;  // all speeds up to an eighth of the best, and failures, count as this

Matrix MatrixOf(const std::vector<std::vector<float>>& rows, size_t columns) {
  Matrix matrix;
  matrix.columns = columns;
  for (const std::vector<float>& row : rows) matrix.Append(row);
  return matrix;
}

size_t Longest(const std::vector<std::vector<float>>& rows) {
  size_t longest = 0;
  for (const std::vector<float>& row : rows) longest = std::max(longest, row.size());
  return longest;
}

Result<std::unique_ptr<CostModel>> Fitted(const XgbOptions& options, const FitData& data) {
  HONE_ASSIGN_OR_RETURN(std::unique_ptr<CostModel> model, MakeXgbModel(options));
  HONE_RETURN_IF_ERROR(model->Fit(data));
  return model;
}

}  // namespace

XgbTunerOptions XgbTunerOptions::Ours(Loss loss, FeatureKind features) {
  XgbTunerOptions options;
  options.features = features;
  options.model.loss = loss;
  options.score_whole_up_to = 16384;
  if (features != FeatureKind::kKnob) {
    // A row costs a lowering, a thousand times as much as a row of knobs, and has many columns.
    options.score_whole_up_to = 1024;
    options.anneal = {.iterations = 32, .walkers = 32, .patience = 8};
    options.model.rounds = 100;
    options.model.column_sample = 0.3;
  }
  return options;
}

XgbTunerOptions XgbTunerOptions::LikeAutotvm(Loss loss, FeatureKind features) {
  XgbTunerOptions options;
  options.features = features;
  options.plan_size = 64;
  options.diversity_ratio = 0;
  options.log_labels = false;
  options.anneal = {.iterations = 500, .walkers = 128, .patience = 50, .scale_score = false};
  options.keep_walkers = true;
  options.model = {.loss = loss,
                   .rounds = 8000,
                   .depth = 3,
                   .learning_rate = 0.3,
                   .min_split_gain = 1e-4,
                   .exact = true,
                   .recall_of = 64,
                   .patience = 20,
                   .good_share = 0.5,
                   .binary_in_recall_only = true};
  options.base_rounds = 400;
  options.least_donor_trials = 500;
  options.discount_trials = 64;
  return options;
}

XgbTuner::XgbTuner(const TaskSpace& space, uint64_t seed, const TunerContext& context, const XgbTunerOptions& options)
    : PlanTuner(options.plan_size),
      space_(space),
      seed_(seed),
      context_(context),
      options_(options),
      points_(space),
      features_(MakeFeatureRows(options.features, space_, context_)) {}

std::vector<PointIndex> XgbTuner::Plan(int64_t round, const std::vector<Outcome>& history) {
  if (!options_.keep_walkers) return PlanOne(round, history);
  // The walkers' positions depend on all earlier rounds, so replaying a history repeats those.
  std::vector<PointIndex> plan;
  for (; planned_ <= round; ++planned_) {
    plan = PlanOne(planned_, {history.begin(), history.begin() + planned_ * round_size()});
  }
  return plan;
}

std::vector<PointIndex> XgbTuner::PlanOne(int64_t round, const std::vector<Outcome>& history) {
  Rng rng(Mix64(seed_ ^ Mix64(static_cast<uint64_t>(round))));
  const IndexSet known = IndicesOf(history);
  const size_t size = static_cast<size_t>(options_.plan_size);
  size_t random = static_cast<size_t>(options_.random_share * static_cast<double>(size));
  if (options_.random_share > 0) random = std::max<size_t>(random, 1);
  std::vector<PointIndex> plan;
  LearnFromDonors();
  if (const std::optional<ScoreFunction> score = Learn(history)) {
    const size_t wanted = size - random;
    const bool thin = options_.diversity_ratio >= 1;
    const size_t found = thin ? static_cast<size_t>(options_.diversity_ratio * static_cast<double>(wanted)) : wanted;
    if (points_.legal() && points_.legal()->size() <= options_.score_whole_up_to) {
      plan = BestOf(*points_.legal(), *score, found, known);
    } else {
      std::vector<PointIndex> walkers;
      if (options_.keep_walkers) walkers = walkers_;
      plan = Anneal(points_, *score, found, known, options_.anneal, &rng, &walkers);
      if (options_.keep_walkers) walkers_ = std::move(walkers);
    }
    if (thin) plan = PickDiverse(space_, plan, wanted, options_.diversity_weight);
  }
  points_.FillUp(size, known, &rng, &plan);
  return plan;
}

void XgbTuner::LearnFromDonors() {
  if (looked_at_donors_) return;
  looked_at_donors_ = true;
  std::vector<std::vector<float>> rows;
  FitData data;
  for (size_t d = 0; d < context_.donors.size(); ++d) {
    const Donor& donor = context_.donors[d];
    const std::vector<float> shares = SpeedShares(donor.outcomes);
    if (std::all_of(shares.begin(), shares.end(), [](float s) { return s == 0; })) continue;
    for (size_t i = 0; i < donor.outcomes.size(); ++i) {
      const Config& config = donor.outcomes[i].config;
      const bool ours = std::any_of(space_.spaces().begin(), space_.spaces().end(),
                                    [&](const Space& s) { return s.template_name() == config.template_name; });
      if (!ours) continue;
      std::vector<float> row = features_->RowOfDonor(donor, config);
      if (row.empty()) continue;
      rows.push_back(std::move(row));
      data.labels.push_back(Label(shares[i]));
      data.group.push_back(static_cast<uint32_t>(d));
    }
  }
  if (rows.size() < std::max<size_t>(1, options_.least_donor_trials)) return;
  base_columns_ = Longest(rows);
  data.rows = MatrixOf(rows, base_columns_);
  XgbOptions options = options_.model;
  options.rounds = options_.base_rounds;
  if (options.recall_of > 0) {  // as AutoTVM does for a base model
    options.patience = 100;
    options.recall_of *= 2;
  }
  auto model = Fitted(options, data);
  if (model.ok()) {
    base_ = std::move(*model);
  } else {
    LogWarning("records of other tasks are not used: " + model.status().message());
  }
}

float XgbTuner::Label(float share) const {
  return options_.log_labels ? std::log2(std::max(share, kLeastShare)) : share;
}

std::vector<float> XgbTuner::BasePredict(const std::vector<std::vector<float>>& rows) const {
  auto predicted = base_->Predict(MatrixOf(rows, base_columns_));
  if (!predicted.ok()) return std::vector<float>(rows.size(), 0);
  return std::move(*predicted);
}

std::optional<ScoreFunction> XgbTuner::Learn(const std::vector<Outcome>& history) {
  double discount = std::exp2(-static_cast<double>(history.size()) / options_.discount_trials);
  if (!base_ || discount < kLeastDiscount) discount = 0;
  const auto with_base = [this, discount](const std::vector<std::vector<float>>& rows, std::vector<float> scores) {
    if (discount == 0) return scores;
    const std::vector<float> base = BasePredict(rows);
    for (size_t i = 0; i < scores.size(); ++i) scores[i] += static_cast<float>(discount) * base[i];
    return scores;
  };
  const std::vector<float> shares = SpeedShares(history);
  const bool any_success = std::any_of(shares.begin(), shares.end(), [](float s) { return s > 0; });
  if (!any_success) {
    // Uses the donors alone; but if all their proposals failed, does not use them again.
    if (discount == 0 || !history.empty()) return std::nullopt;
    return [this, with_base](const std::vector<PointIndex>& indices) {
      return with_base(features_->Rows(indices), std::vector<float>(indices.size(), 0));
    };
  }
  std::vector<PointIndex> indices;
  FitData data;
  for (size_t i = 0; i < history.size(); ++i) {
    // A failure of the device is not the candidate's fault.
    if (history[i].state == TrialState::kFailed && history[i].error == TrialError::kDevice) continue;
    if (history[i].config.index >= space_.size()) continue;
    indices.push_back(history[i].config.index);
    data.labels.push_back(Label(shares[i]));
  }
  const std::vector<std::vector<float>> rows = features_->Rows(indices);
  const size_t columns = Longest(rows);
  if (columns == 0) return std::nullopt;
  data.rows = MatrixOf(rows, columns);
  if (discount > 0) data.margins = with_base(rows, std::vector<float>(rows.size(), 0));
  auto model = Fitted(options_.model, data);
  if (!model.ok()) {
    LogWarning("the model could not learn, so that points are random: " + model.status().message());
    return std::nullopt;
  }
  model_ = std::move(*model);
  return [this, with_base, columns](const std::vector<PointIndex>& asked) {
    const std::vector<std::vector<float>> asked_rows = features_->Rows(asked);
    auto scores = model_->Predict(MatrixOf(asked_rows, columns));
    if (!scores.ok()) return std::vector<float>(asked.size(), 0);
    return with_base(asked_rows, std::move(*scores));
  };
}

}  // namespace hone::search
