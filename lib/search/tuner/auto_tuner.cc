#include "search/tuner/auto_tuner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "search/tuner/plan_tuner.h"
#include "search/tuner/points.h"

namespace hone::search {
namespace {

constexpr size_t kMostTrained = 160;  // observations in the model: the fastest half, the newest half
constexpr size_t kPromising = 3072;   // rows whose mean is computed: the best by the prior,
constexpr size_t kOthers = 1024;      // others in turn,
constexpr size_t kCenters = 3;        // and the neighbours of this many of the fastest
constexpr size_t kNear = 128;         // of each in a sampled space, where they are drawn
constexpr size_t kCandidates = 512;   // the best of them by mean, whose variance is computed

constexpr size_t kCoverAfter = 8;   // after this many trials, one of each group has a knob value that was never tried,
constexpr size_t kPairsAfter = 16;  // after these, if all values were tried: this share of new pairs of values
constexpr double kNewPairs = 0.3;
constexpr float kDonorTrials = 8;   // number of trials after which donors count half
constexpr size_t kMostJudged = 64;  // limit of failures, and of successes, for the share of failures
// The share of the noise's variance that belongs to the point itself and repeats when it is measured again: the point
// may be better than its neighbours suggest.
constexpr double kOwnShare = 0.7;

double NormalDensity(double z) { return 0.3989422804014327 * std::exp(-0.5 * z * z); }
double NormalShare(double z) { return 0.5 * std::erfc(-z * 0.7071067811865476); }

double ExpectedImprovement(double best, double mean, double deviation) {
  if (deviation <= 0) return std::max(best - mean, 0.0);
  const double z = (best - mean) / deviation;
  return deviation * (z * NormalShare(z) + NormalDensity(z));
}

// Merges two orderings of the same rows: takes the next unseen row from each in turn.
std::vector<size_t> InTurns(const std::vector<size_t>& a, const std::vector<size_t>& b) {
  std::vector<size_t> rows;
  std::vector<bool> taken(a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t row : {a[i], b[i]}) {
      if (!taken[row]) rows.push_back(row);
      taken[row] = true;
    }
  }
  return rows;
}

}  // namespace

AutoTuner::AutoTuner(const TaskSpace& space, uint64_t seed, const TunerContext& context)
    : space_(space),
      seed_(seed),
      context_(context),
      group_(context.group > 0 ? static_cast<size_t>(context.group) : kGroup) {}

void AutoTuner::Prepare() {
  if (prepared_) return;
  prepared_ = true;
  points_ = MakeAutoPoints(space_, context_, seed_, kMostPoints, kMostRows);
  view_ = std::make_unique<AutoView>(points_);
  tried_ = std::make_unique<TriedValues>(points_);
  prior_ = points_.log_cost;
  kept_ = points_.rows();
  donors_ = std::make_unique<DonorModel>(points_, space_, context_);
  CorrectRows();
  for (size_t r = 0; r < correction_.size(); ++r) prior_[r] += correction_[r];
  by_prior_ = Ascending(prior_);
  // Donors may be wrong: the estimate's favourites alternate with theirs.
  if (!correction_.empty()) by_prior_ = InTurns(Ascending(points_.log_cost), by_prior_);
}

PointIndex AutoTuner::Turn(size_t row) const {
  const PointIndex index = points_.index[row];
  return points_.templates[points_.template_of[row]].estimates > 0 ? index : Mix64(seed_ ^ PointHash()(index));
}

std::vector<size_t> AutoTuner::Ascending(const std::vector<float>& values) const {
  std::vector<size_t> rows(values.size());
  std::iota(rows.begin(), rows.end(), size_t{0});
  std::ranges::stable_sort(rows, {}, [&](size_t row) { return std::pair(values[row], Turn(row)); });
  return rows;
}

void AutoTuner::Update(const std::vector<Outcome>& outcomes) {
  for (const Outcome& outcome : outcomes) {
    Seen seen;
    seen.index = outcome.config.index;
    seen.state = outcome.state;
    seen.says_nothing = outcome.state == TrialState::kFailed && outcome.error == TrialError::kDevice;
    const double seconds = Seconds(outcome);
    if (seconds == 0) seen.state = TrialState::kFailed;  // also for an invalid time
    if (seconds > 0) seen.log_time = std::log(seconds);
    history_.push_back(seen);
    known_.insert(seen.index);
    proposed_.erase(seen.index);
  }
  // Not in NextBatch: the expectation for the next group depends only on the history.
  if (!outcomes.empty() && history_.size() % group_ == 0) PlanGroup();
}

void AutoTuner::PlanGroup() {
  Prepare();
  const size_t begin = history_.size() / group_ * group_;
  if (plan_at_ == begin) return;
  plan_ = Plan(begin);
  plan_at_ = begin;
}

std::vector<PointIndex> AutoTuner::NextBatch(int n) {
  PlanGroup();
  const size_t begin = plan_at_;
  const auto take = [&] {
    std::vector<PointIndex> batch;
    size_t room = begin + group_ - std::min(begin + group_, history_.size() + proposed_.size());
    for (const PointIndex index : plan_) {
      if (room == 0 || static_cast<int>(batch.size()) >= n) break;
      if (known_.count(index) || !proposed_.insert(index).second) continue;
      batch.push_back(index);
      --room;
    }
    return batch;
  };
  std::vector<PointIndex> batch = take();
  if (batch.empty() && proposed_.empty() && n > 0) {
    // Another tuner made the history: the plan for this group is already known.
    plan_ = Plan(history_.size());
    batch = take();
  }
  return batch;
}

void AutoTuner::Fit(size_t history) {
  std::vector<size_t> timed;
  best_log_ = std::numeric_limits<double>::infinity();
  any_ok_ = false;
  for (size_t i = 0; i < history; ++i) {
    if (history_[i].state == TrialState::kFailed || history_[i].row >= points_.rows()) continue;
    timed.push_back(i);
    if (history_[i].state == TrialState::kOk) {
      any_ok_ = true;
      best_log_ = std::min(best_log_, history_[i].log_time);
    }
  }
  if (!any_ok_) {
    for (size_t i : timed) best_log_ = std::min(best_log_, history_[i].log_time);
  }
  if (timed.size() > kMostTrained) {
    std::vector<size_t> newest(timed.end() - kMostTrained / 2, timed.end());
    timed.resize(timed.size() - kMostTrained / 2);
    std::ranges::stable_sort(timed, {}, [&](size_t i) { return history_[i].log_time; });
    timed.resize(kMostTrained / 2);
    timed.insert(timed.end(), newest.begin(), newest.end());
  }
  std::vector<std::pair<size_t, double>> trained;
  for (size_t i : timed) trained.push_back({history_[i].row, history_[i].log_time});
  prior_ = points_.log_cost;
  if (!correction_.empty()) {
    DonorTrust trust;
    for (const auto& [row, log_time] : trained) {
      trust.Add(correction_[row], log_time - points_.log_cost[row], 1 / AutoView::Doubt(log_time, best_log_));
    }
    const auto trials = static_cast<float>(history);
    const auto slope = static_cast<float>(trust.Slope()) * kDonorTrials / (kDonorTrials + trials);
    for (size_t r = 0; r < correction_.size(); ++r) prior_[r] += slope * correction_[r];
  }
  view_->Fit(trained, best_log_, prior_);
}

void AutoTuner::CorrectRows() {
  if (donors_->empty()) return;
  for (size_t r = correction_.size(); r < points_.rows(); ++r) correction_.push_back(donors_->Correction(r));
}

// Tried points outside the sample become rows in the order of the history, so that a resumed run has the same rows.
void AutoTuner::FindRows(size_t history) {
  if (!points_.complete) {
    points_.Truncate(kept_);
    if (!donors_->empty()) correction_.resize(kept_);
    std::vector<PointIndex> tried;
    for (size_t i = found_; i < history; ++i) tried.push_back(history_[i].index);
    AddPoints(space_, context_, tried, &points_);
    kept_ = points_.rows();
    CorrectRows();
  }
  for (; found_ < history; ++found_) {
    const size_t row = points_.Find(history_[found_].index);
    if (row < points_.rows()) history_[found_].row = row;
  }
}

std::vector<size_t> AutoTuner::Fastest(size_t history) const {
  std::vector<size_t> fastest;
  for (size_t i = 0; i < history; ++i) {
    if (history_[i].state == TrialState::kOk && history_[i].row < points_.rows()) fastest.push_back(i);
  }
  std::ranges::stable_sort(fastest, {}, [&](size_t i) { return history_[i].log_time; });
  if (fastest.size() > kCenters) fastest.resize(kCenters);
  return fastest;
}

// Points one and two knobs away: all of them, or, in a sampled space, some drawn only for this group.
std::vector<size_t> AutoTuner::RowsNearFastest(size_t history) {
  std::vector<PointIndex> drawn;
  std::vector<size_t> rows;
  const auto add = [&](PointIndex index) {
    const size_t row = points_.Find(index);
    if (row < points_.rows()) rows.push_back(row);
  };
  if (points_.complete && points_.rows() <= kPromising + kOthers) return rows;  // all are considered
  Rng rng(Mix64(seed_ ^ Mix64(history ^ 0x6e656172ULL)));
  for (const size_t f : Fastest(history)) {
    if (points_.complete) {
      VisitNear(space_, history_[f].index, add);
    } else {
      const std::vector<PointIndex> some = DrawNear(space_, history_[f].index, kNear, &rng);
      drawn.insert(drawn.end(), some.begin(), some.end());
    }
  }
  AddPoints(space_, context_, drawn, &points_);
  CorrectRows();
  for (const PointIndex index : drawn) add(index);
  return rows;
}

std::vector<size_t> AutoTuner::ActiveRows(size_t history, const std::vector<size_t>& near,
                                          const IndexSet& known) const {
  std::vector<size_t> rows;
  const auto add = [&](size_t row) {
    if (!known.count(points_.index[row])) rows.push_back(row);
  };
  const size_t all = by_prior_.size(), promising = all <= kPromising + kOthers ? all : kPromising;
  for (size_t i = 0; i < promising; ++i) add(by_prior_[i]);
  if (const size_t rest = all - promising; rest > 0) {
    const uint64_t start = Mix64(seed_ ^ Mix64(history)) % rest;
    const size_t stride = std::max<size_t>(rest / kOthers, 1);
    for (size_t i = 0; i < kOthers; ++i) add(by_prior_[promising + (start + i * stride) % rest]);
  }
  for (const size_t row : near) add(row);
  std::ranges::sort(rows);
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

double AutoTuner::Works(size_t row, const std::vector<size_t>& failed, const std::vector<size_t>& worked) const {
  if (failed.empty()) return 1;
  const auto weight = [&](size_t other) {
    if (points_.template_of[row] != points_.template_of[other]) return 0.0;
    double distance = 0;
    for (size_t c = 0; c < points_.slope; ++c) {
      const double d = points_.row(row)[c] - points_.row(other)[c];
      distance += d * d;
    }
    return std::exp(-2 * distance);
  };
  double good = 1, bad = 0;  // one assumed success: legal points usually work
  for (size_t f : failed) bad += weight(f);
  for (size_t w : worked) good += weight(w);
  const double share = good / (good + bad);
  return share * share;  // repeating failures is the worse mistake
}

std::vector<PointIndex> AutoTuner::Plan(size_t history) {
  IndexSet known;
  for (size_t i = 0; i < history; ++i) known.insert(history_[i].index);
  std::vector<PointIndex> plan;
  IndexSet planned;
  if (history < group_) {
    for (const PointIndex index : context_.defaults) {
      if (plan.size() < group_ && points_.Find(index) < points_.rows() && !known.count(index) &&
          planned.insert(index).second) {
        plan.push_back(index);
      }
    }
  }
  FindRows(history);
  const std::vector<size_t> near = RowsNearFastest(history);  // before Fit, which keeps pointers to rows
  Fit(history);
  std::vector<size_t> failed, worked;
  for (size_t i = 0; i < history; ++i) {
    if (history_[i].row >= points_.rows() || history_[i].says_nothing) continue;
    (history_[i].state == TrialState::kFailed ? failed : worked).push_back(history_[i].row);
  }
  // The newest are the most relevant, and the limit bounds the cost of a plan.
  for (std::vector<size_t>* rows : {&failed, &worked}) {
    if (rows->size() > kMostJudged) rows->erase(rows->begin(), rows->end() - kMostJudged);
  }
  std::vector<size_t> active = ActiveRows(history, near, known);
  if (active.empty() && !points_.complete) {
    // The sample is exhausted: search the rest of the space at random.
    Rng rng(Mix64(seed_ ^ Mix64(history + 1)));
    for (int tries = 0; tries < 1000 && plan.size() < group_; ++tries) {
      const std::optional<PointIndex> index = space_.SampleLegal(rng);
      if (index && !known.count(*index) && planned.insert(*index).second) plan.push_back(*index);
    }
    return plan;
  }
  struct Ranked {
    double rank, mean, works;
    size_t row;
    PointIndex turn;
    bool operator<(const Ranked& o) const { return rank != o.rank ? rank < o.rank : turn < o.turn; }
  };
  std::vector<Ranked> ranked;
  for (size_t row : active) {
    const double mean = view_->Mean(row), works = Works(row, failed, worked);
    ranked.push_back({mean - std::log(works), mean, works, row, Turn(row)});
  }
  // A model that has seen only a few values of a knob knows little about the others, and does not always know that it
  // knows little. So one trial of each group is the most promising point with an untried value, or, after all values
  // were tried, with an untried combination.
  const Ranked* cover = nullptr;
  if (history >= kCoverAfter) {
    HONE_CHECK(tried_count_ <= history);  // groups are planned in order
    for (; tried_count_ < history; ++tried_count_) {
      const Seen& seen = history_[tried_count_];
      if (seen.row < points_.rows() && !seen.says_nothing) tried_->Add(seen.row);
    }
    std::sort(ranked.begin(), ranked.end());
    const auto first = [&](const auto& is_new) {
      for (size_t i = 0; i < ranked.size() && cover == nullptr; ++i) {
        if (is_new(ranked[i].row)) cover = &ranked[i];
      }
    };
    first([&](size_t row) { return tried_->HasNew(row); });
    if (history >= kPairsAfter) first([&](size_t row) { return tried_->NewPairs(row) >= kNewPairs; });
  }
  const size_t cover_row = cover != nullptr ? cover->row : points_.rows();
  if (ranked.size() > kCandidates) {
    std::nth_element(ranked.begin(), ranked.begin() + kCandidates, ranked.end());
    ranked.resize(kCandidates);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<size_t> candidates;
  for (const Ranked& r : ranked) candidates.push_back(r.row);
  view_->Consider(candidates);
  for (const PointIndex index : plan) view_->Believe(points_.Find(index));
  Rng rng(Mix64(seed_ ^ Mix64(history ^ 0x70696361ULL)));
  double best = best_log_;
  if (!std::isfinite(best)) {
    for (const Ranked& r : ranked) best = std::min(best, r.mean);
  }
  // Before the first success, each failure reduces the weight of the estimate.
  const double doubt = any_ok_ ? 0 : 0.1 * static_cast<double>(failed.size());
  double gain_left = 0;
  while (plan.size() < group_) {
    if (plan.size() == group_ / 2 && cover_row < points_.rows() && planned.insert(points_.index[cover_row]).second) {
      plan.push_back(points_.index[cover_row]);
      view_->Believe(cover_row);
      continue;
    }
    const Ranked* chosen = nullptr;
    double most = -1;
    // A random margin for each choice adds some exploration.
    const double margin = history == 0 ? 0.0 : 0.01 * std::fabs(rng.Normal());
    for (size_t i = 0; i < ranked.size(); ++i) {
      const Ranked& r = ranked[i];
      if (planned.count(points_.index[r.row])) continue;
      const double variance = view_->Variance(i);
      const double deviation = std::max(std::sqrt(variance + kOwnShare * view_->noise()), doubt);
      const double gain = ExpectedImprovement(best - margin, r.mean, deviation) * r.works;
      if (gain > most) most = gain, chosen = &r;
      gain_left = std::max(gain_left,
                           ExpectedImprovement(best - margin, r.mean, std::max(std::sqrt(variance), doubt)) * r.works);
    }
    if (chosen == nullptr) break;
    plan.push_back(points_.index[chosen->row]);
    planned.insert(plan.back());
    view_->Believe(chosen->row);
  }
  expected_gain_ = any_ok_ ? std::optional<double>(gain_left) : std::nullopt;
  return plan;
}

}  // namespace hone::search
