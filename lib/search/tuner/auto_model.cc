#include "search/tuner/auto_model.h"

#include "base/check.h"
#include "search/tuner/cholesky.h"

namespace hone::search {
namespace {

double Square(double x) { return x * x; }

float Dot(const float* a, const float* b, size_t begin, size_t end) {
  float dot = 0;
  for (size_t c = begin; c < end; ++c) dot += a[c] * b[c];
  return dot;
}

// The squared distance of two scaled rows.
float Apart(const float* a, const float* b, size_t columns) {
  float distance = 0;
  for (size_t c = 0; c < columns; ++c) distance += (a[c] - b[c]) * (a[c] - b[c]);
  return distance;
}

}  // namespace

GaussianModel::GaussianModel(size_t columns, std::vector<float> weights)
    : columns_(columns), mains_(weights.size()), default_weights_(std::move(weights)), weights_(default_weights_) {
  HONE_CHECK(mains_ <= columns_ && columns_ <= kMostColumns);
}

void GaussianModel::Fit(std::vector<GaussianRow> rows, std::vector<double> values, bool tune,
                        std::vector<double> doubts) {
  if (doubts.empty()) doubts.assign(rows.size(), 1);
  HONE_CHECK(rows.size() == values.size() && rows.size() == doubts.size());
  if (tune && rows.size() >= 3) {
    TunedSettings tuned = TuneSettings(rows, values, doubts, columns_, default_weights_);
    settings_ = tuned.settings;
    weights_ = std::move(tuned.weights);
  }
  rows_ = std::move(rows);
  const size_t n = rows_.size();
  scaled_.resize(n * mains_);
  for (size_t i = 0; i < n; ++i) Scale(rows_[i], scaled_.data() + i * mains_);
  std::vector<double> k(n * n, 0);
  for (double jitter = 1;; jitter *= 4) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < i; ++j) k[i * n + j] = Covariance(rows_[i], rows_[j]);
      k[i * n + i] = Covariance(rows_[i], rows_[i]) + Square(settings_.noise) * jitter * doubts[i];
    }
    if (Cholesky(n, &k)) break;
    HONE_CHECK(jitter < 1e9);  // with that much on its diagonal, a covariance is positive definite
  }
  doubts_ = std::move(doubts);
  alpha_ = values;
  Forward(n, k, &alpha_);
  Backward(n, k, &alpha_);
  factor_.assign(k.begin(), k.end());
  inverse_.resize(n);
  for (size_t i = 0; i < n; ++i) inverse_[i] = static_cast<float>(1 / k[i * n + i]);
  Sum();
}

void GaussianModel::Sum() {
  common_ = 0;
  slopes_.clear();
  std::vector<std::vector<double>> sums;  // per group
  for (size_t i = 0; i < rows_.size(); ++i) {
    common_ += Square(settings_.common) * alpha_[i];
    size_t g = 0;
    while (g < slopes_.size() && slopes_[g].group != rows_[i].group) ++g;
    if (g == slopes_.size()) {
      slopes_.push_back({rows_[i].group, 0, {}});
      sums.emplace_back(columns_, 0);
    }
    slopes_[g].constant += Square(settings_.offset) * alpha_[i];
    for (size_t c = 0; c < columns_; ++c) {
      sums[g][c] += Square(c < mains_ ? settings_.linear : settings_.main) * alpha_[i] * rows_[i].x[c];
    }
  }
  for (size_t g = 0; g < slopes_.size(); ++g) slopes_[g].columns.assign(sums[g].begin(), sums[g].end());
}

void GaussianModel::Scale(const GaussianRow& row, float* out) const {
  const float shrink = 1 / static_cast<float>(settings_.length);
  for (size_t c = 0; c < mains_; ++c) out[c] = row.x[c] * weights_[c] * shrink;
}

double GaussianModel::Covariance(const GaussianRow& a, const GaussianRow& b) const {
  double sum = Square(settings_.common);
  if (a.group != b.group) return sum;
  const float dot = Dot(a.x, b.x, 0, mains_), shrink = 1 / static_cast<float>(settings_.length);
  float distance = 0;
  for (size_t c = 0; c < mains_; ++c) {
    const float d = (a.x[c] - b.x[c]) * weights_[c] * shrink;
    distance += d * d;
  }
  sum += Square(settings_.main) * Dot(a.x, b.x, mains_, columns_);
  return sum + Square(settings_.offset) + Square(settings_.linear) * dot +
         Square(settings_.bend) * Matern52(static_cast<double>(distance));
}

void GaussianModel::Covariances(const GaussianRow& row, float* out) const {
  const auto common = static_cast<float>(Square(settings_.common)),
             offset = static_cast<float>(Square(settings_.offset)),
             linear = static_cast<float>(Square(settings_.linear)), main = static_cast<float>(Square(settings_.main)),
             bend = static_cast<float>(Square(settings_.bend));
  float scaled[kMostColumns];
  Scale(row, scaled);
  for (size_t i = 0; i < rows_.size(); ++i) {
    out[i] = common;
    if (rows_[i].group != row.group) continue;
    const float* x = rows_[i].x;
    out[i] += offset + linear * Dot(x, row.x, 0, mains_) + main * Dot(x, row.x, mains_, columns_) +
              bend * Matern52(Apart(scaled, scaled_.data() + i * mains_, mains_));
  }
}

double GaussianModel::LeftOut(double count) const {
  const size_t n = rows_.size();
  std::vector<double> column(n);
  double squares = count, weight = count;
  for (size_t i = 0; i < n; ++i) {
    // The left-out error is alpha_i / Q, its variance 1 / Q, with Q = covariance^-1 (i, i) = |L^-1 e_i|^2.
    double q = 0;
    for (size_t r = i; r < n; ++r) {
      double sum = r == i ? 1 : 0;
      for (size_t k = i; k < r; ++k) sum -= factor_[r * n + k] * column[k];
      column[r] = sum * inverse_[r];
      q += column[r] * column[r];
    }
    squares += alpha_[i] * alpha_[i] / q / doubts_[i];
    weight += 1 / doubts_[i];
  }
  return squares / weight;
}

double GaussianModel::Mean(const GaussianRow& row) const {
  float scaled[kMostColumns];
  Scale(row, scaled);
  double bends = 0;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].group == row.group) bends += alpha_[i] * Matern52(Apart(scaled, scaled_.data() + i * mains_, mains_));
  }
  double mean = common_ + Square(settings_.bend) * bends;
  for (const Slope& slope : slopes_) {
    if (slope.group == row.group) mean += slope.constant + Dot(row.x, slope.columns.data(), 0, columns_);
  }
  return mean;
}

void GaussianModel::Whiten(const GaussianRow& row, float* out) const {
  const size_t n = rows_.size();
  Covariances(row, out);
  for (size_t i = 0; i < n; ++i) {
    const float* l = factor_.data() + i * n;
    float sum = 0;
    for (size_t k = 0; k < i; ++k) sum += l[k] * out[k];
    out[i] = (out[i] - sum) * inverse_[i];
  }
}

}  // namespace hone::search
