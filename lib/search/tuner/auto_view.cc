#include "search/tuner/auto_view.h"

#include <algorithm>
#include <cmath>

namespace hone::search {

constexpr double kWorstLog = 0.4;  // labels beyond e^0.4 times the best are compressed
// Disturbances only make a measurement slower, so slower trials are trusted less. The variance of their noise is 1 +
// this factor times the square of their log over the best (at most kMostDoubted).
constexpr double kDoubt = 30, kMostDoubted = 2;
constexpr size_t kTuned = 6;   // trials from which on the model's settings are tuned
constexpr size_t kJudged = 8;  // and its variances are compared with its actual errors,
constexpr double kCount = 6;   // weight of the prior belief in them, in trials
constexpr double kLeast = 0.3, kMost = 4;

AutoView::AutoView(const AutoPoints& points) : points_(points), weights_(points.mains, 0) {
  size_t estimates = 0;
  for (const AutoPoints::Template& t : points.templates) estimates = std::max(estimates, t.estimates);
  for (size_t c = 0; c < points.slope; ++c) weights_[c] = c < estimates ? 0.85F : 1.8F;
}

void AutoView::Fit(const std::vector<std::pair<size_t, double>>& trials, double best, const std::vector<float>& prior) {
  prior_ = &prior;
  candidates_.clear();
  believed_.clear();
  model_ = std::make_unique<GaussianModel>(points_.columns, weights_);
  std::vector<GaussianRow> rows;
  std::vector<double> labels, doubts;
  for (auto [row, log_time] : trials) {
    doubts.push_back(Doubt(log_time, best));
    if (log_time > best + kWorstLog) log_time = best + kWorstLog + std::log1p(log_time - best - kWorstLog);
    rows.push_back(Row(row));
    labels.push_back(log_time - prior[row]);
  }
  // The common offset is far from 0; subtracting a constant keeps the numbers small.
  offset_ = 0;
  for (double label : labels) offset_ += label / static_cast<double>(labels.size());
  for (double& label : labels) label -= offset_;
  model_->Fit(std::move(rows), std::move(labels), trials.size() >= kTuned, std::move(doubts));
  honest_ = trials.size() >= kJudged ? std::clamp(model_->LeftOut(kCount), kLeast, kMost) : 1;
}

double AutoView::Doubt(double log_time, double best) {
  return 1 + kDoubt * std::pow(std::min(log_time - best, kMostDoubted), 2);
}

double AutoView::Mean(size_t row) const { return (*prior_)[row] + offset_ + model_->Mean(Row(row)); }

void AutoView::Consider(const std::vector<size_t>& rows) {
  candidates_.clear();
  believed_.clear();
  for (size_t row : rows) {
    Candidate c{row, model_->Covariance(Row(row), Row(row)), std::vector<float>(model_->size())};
    model_->Whiten(Row(row), c.white.data());
    for (float w : c.white) c.variance -= static_cast<double>(w) * w;
    candidates_.push_back(std::move(c));
  }
}

double AutoView::Variance(size_t candidate) const {
  // Uncertainty that all points share does not distinguish them.
  const double common = model_->settings().common;
  const bool nothing = model_->size() == 0 && believed_.empty();
  return honest_ * std::max(candidates_[candidate].variance - (nothing ? common * common : 0), 1e-6);
}

void AutoView::Believe(size_t row) {
  std::vector<float> white(model_->size());
  model_->Whiten(Row(row), white.data());
  double variance = model_->Covariance(Row(row), Row(row)) + noise();
  for (const auto& [earlier, seen] : believed_) {
    double covariance = model_->Covariance(Row(row), Row(earlier));
    for (size_t k = 0; k < white.size(); ++k) covariance -= static_cast<double>(white[k]) * seen[k];
    white.push_back(static_cast<float>(covariance / seen.back()));
  }
  for (float w : white) variance -= static_cast<double>(w) * w;
  const double deviation = std::sqrt(std::max(variance, 1e-9));
  for (Candidate& c : candidates_) {
    double covariance = model_->Covariance(Row(row), Row(c.row));
    for (size_t k = 0; k < white.size(); ++k) covariance -= static_cast<double>(white[k]) * c.white[k];
    const double component = covariance / deviation;
    c.white.push_back(static_cast<float>(component));
    c.variance -= component * component;
  }
  white.push_back(static_cast<float>(deviation));
  believed_.push_back({row, std::move(white)});
}

}  // namespace hone::search
