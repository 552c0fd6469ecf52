#include "search/tuner/auto_model.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace hone::search {
namespace {

constexpr size_t kTuneRows = 64;  // more say little about the settings, and cost their cube

// In place, lower triangle of an n x n matrix. False if it is not positive definite.
bool Cholesky(size_t n, std::vector<double>* matrix) {
  std::vector<double>& m = *matrix;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = m[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= m[i * n + k] * m[j * n + k];
      if (i == j) {
        if (!(sum > 0)) return false;
        m[i * n + i] = std::sqrt(sum);
      } else {
        m[i * n + j] = sum / m[j * n + j];
      }
    }
  }
  return true;
}

// y = L^-1 y, then L^-T: the solution of L L^T x = y.
void Forward(size_t n, const std::vector<double>& l, std::vector<double>* y) {
  for (size_t i = 0; i < n; ++i) {
    double sum = (*y)[i];
    for (size_t k = 0; k < i; ++k) sum -= l[i * n + k] * (*y)[k];
    (*y)[i] = sum / l[i * n + i];
  }
}

void Backward(size_t n, const std::vector<double>& l, std::vector<double>* y) {
  for (size_t i = n; i-- > 0;) {
    double sum = (*y)[i];
    for (size_t k = i + 1; k < n; ++k) sum -= l[k * n + i] * (*y)[k];
    (*y)[i] = sum / l[i * n + i];
  }
}

double Square(double x) { return x * x; }

float Dot(const float* a, const float* b, size_t begin, size_t end) {
  float dot = 0;
  for (size_t c = begin; c < end; ++c) dot += a[c] * b[c];
  return dot;
}

// How far a setting is from its default, as a log-normal prior of this width sees it.
double Penalty(double value, double usual, double width) { return 0.5 * Square(std::log(value / usual) / width); }

}  // namespace

double Matern52(double squared) {
  const double r = std::sqrt(5 * squared);
  return (1 + r + r * r / 3) * std::exp(-r);
}

// Of each two rows of a training set: what the settings do not change.
struct GaussianModel::Pairs {
  size_t n = 0;
  std::vector<float> squares;      // (i, j < i) x columns of x: squared differences
  std::vector<float> dots, mains;  // (i, j <= i): of x, of u
  std::vector<uint8_t> same;       // group
  std::vector<double> doubts;      // of each row
};

GaussianModel::GaussianModel(size_t columns, std::vector<float> weights)
    : columns_(columns), mains_(weights.size()), default_weights_(std::move(weights)), weights_(default_weights_) {
  HONE_CHECK(mains_ <= columns_ && columns_ <= kMostColumns);
}

double GaussianModel::LogDensity(const Pairs& pairs, const std::vector<double>& values, const GaussianSettings& s,
                                 const std::vector<float>& weights) const {
  const size_t n = pairs.n;
  std::vector<float> scale(mains_);
  for (size_t c = 0; c < mains_; ++c) scale[c] = static_cast<float>(Square(weights[c] / s.length));
  std::vector<double> k(n * n, 0);
  size_t pair = 0, dot = 0;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j, ++dot) {
      double sum = s.common * s.common;
      if (i == j) {
        sum += Square(s.bend) + Square(s.noise) * pairs.doubts[i];
      } else {
        if (pairs.same[dot]) {
          const float* d = pairs.squares.data() + pair * mains_;
          float distance = 0;
          for (size_t c = 0; c < mains_; ++c) distance += d[c] * scale[c];
          sum += Square(s.bend) * Matern52(distance);
        }
        ++pair;
      }
      if (pairs.same[dot]) {
        sum += Square(s.offset) + Square(s.linear) * pairs.dots[dot] + Square(s.main) * pairs.mains[dot];
      }
      k[i * n + j] = sum;
    }
  }
  if (!Cholesky(n, &k)) return -INFINITY;
  std::vector<double> y = values;
  Forward(n, k, &y);
  double density = 0;
  for (size_t i = 0; i < n; ++i) density -= 0.5 * y[i] * y[i] + std::log(k[i * n + i]);
  const GaussianSettings usual;
  density -= Penalty(s.linear, usual.linear, 0.7) + Penalty(s.bend, usual.bend, 0.7) +
             Penalty(s.length, usual.length, 0.6) + Penalty(s.noise, usual.noise, 0.8);
  if (mains_ < columns_) density -= Penalty(s.main, usual.main, 0.7);
  for (size_t c = 0; c < mains_; ++c) {
    if (default_weights_[c] > 0) density -= Penalty(weights[c], default_weights_[c], 0.8);
  }
  return density;
}

void GaussianModel::Tune(const std::vector<GaussianRow>& rows, const std::vector<double>& values,
                         const std::vector<double>& doubts) {
  // The fastest half and the newest half.
  std::vector<size_t> chosen(rows.size());
  for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
  if (rows.size() > kTuneRows) {
    std::stable_sort(chosen.begin(), chosen.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
    std::vector<size_t> rest(chosen.begin() + kTuneRows / 2, chosen.end());
    std::sort(rest.rbegin(), rest.rend());
    chosen.resize(kTuneRows / 2);
    chosen.insert(chosen.end(), rest.begin(), rest.begin() + kTuneRows / 2);
  }
  Pairs pairs;
  pairs.n = chosen.size();
  std::vector<double> y;
  for (size_t i = 0; i < pairs.n; ++i) {
    const GaussianRow& a = rows[chosen[i]];
    y.push_back(values[chosen[i]]);
    pairs.doubts.push_back(doubts[chosen[i]]);
    for (size_t j = 0; j <= i; ++j) {
      const GaussianRow& b = rows[chosen[j]];
      pairs.dots.push_back(Dot(a.x, b.x, 0, mains_));
      pairs.mains.push_back(Dot(a.x, b.x, mains_, columns_));
      pairs.same.push_back(a.group == b.group);
      if (j == i) continue;
      for (size_t c = 0; c < mains_; ++c) {
        const float d = a.x[c] - b.x[c];
        pairs.squares.push_back(d * d);
      }
    }
  }
  GaussianSettings best;
  std::vector<float> weights = default_weights_;
  double density = LogDensity(pairs, y, best, weights);
  const auto attempt = [&](const GaussianSettings& s, const std::vector<float>& w) {
    const double d = LogDensity(pairs, y, s, w);
    if (d <= density) return false;
    density = d, best = s, weights = w;
    return true;
  };
  std::vector<double GaussianSettings::*> fields = {&GaussianSettings::bend, &GaussianSettings::length,
                                                    &GaussianSettings::linear, &GaussianSettings::noise};
  if (mains_ < columns_) fields.push_back(&GaussianSettings::main);
  for (int round = 0; round < 2; ++round) {
    for (auto field : fields) {
      for (const double factor : {1.6, 1 / 1.6}) {
        for (int steps = 0; steps < 3; ++steps) {
          GaussianSettings s = best;
          s.*field *= factor;
          if (!attempt(s, weights)) break;
        }
      }
    }
    if (pairs.n < 12) continue;
    for (size_t c = 0; c < mains_; ++c) {
      if (default_weights_[c] <= 0) continue;
      for (const float factor : {2.0F, 0.5F}) {
        std::vector<float> w = weights;
        w[c] *= factor;
        if (attempt(best, w)) break;
      }
    }
  }
  settings_ = best;
  weights_ = weights;
}

void GaussianModel::Fit(std::vector<GaussianRow> rows, std::vector<double> values, bool tune,
                        std::vector<double> doubts) {
  if (doubts.empty()) doubts.assign(rows.size(), 1);
  HONE_CHECK(rows.size() == values.size() && rows.size() == doubts.size());
  if (tune && rows.size() >= 3) Tune(rows, values, doubts);
  rows_ = std::move(rows);
  const size_t n = rows_.size();
  scaled_.resize(n * mains_);
  for (size_t i = 0; i < n; ++i) {
    for (size_t c = 0; c < mains_; ++c) {
      scaled_[i * mains_ + c] = rows_[i].x[c] * weights_[c] / static_cast<float>(settings_.length);
    }
  }
  std::vector<double> k(n * n, 0);
  for (double jitter = 1;; jitter *= 4) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < i; ++j) k[i * n + j] = Covariance(rows_[i], rows_[j]);
      k[i * n + i] = Covariance(rows_[i], rows_[i]) + Square(settings_.noise) * jitter * doubts[i];
    }
    if (Cholesky(n, &k)) break;
    HONE_CHECK(jitter < 1e9);  // a covariance with that much on its diagonal is positive definite
  }
  doubts_ = std::move(doubts);
  alpha_ = values;
  Forward(n, k, &alpha_);
  Backward(n, k, &alpha_);
  factor_.assign(k.begin(), k.end());
  inverse_.resize(n);
  for (size_t i = 0; i < n; ++i) inverse_[i] = static_cast<float>(1 / k[i * n + i]);
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
  return sum + Square(settings_.offset) + Square(settings_.linear) * dot + Square(settings_.bend) * Matern52(distance);
}

void GaussianModel::Covariances(const GaussianRow& row, float* out) const {
  const size_t n = rows_.size();
  const float common = static_cast<float>(Square(settings_.common)),
              offset = static_cast<float>(Square(settings_.offset));
  const float linear = static_cast<float>(Square(settings_.linear)), bend = static_cast<float>(Square(settings_.bend));
  const float main = static_cast<float>(Square(settings_.main));
  const float shrink = 1 / static_cast<float>(settings_.length);
  float scaled[kMostColumns];
  for (size_t c = 0; c < mains_; ++c) scaled[c] = row.x[c] * weights_[c] * shrink;
  for (size_t i = 0; i < n; ++i) {
    out[i] = common;
    if (rows_[i].group != row.group) continue;
    const float *x = rows_[i].x, *s = scaled_.data() + i * mains_;
    const float dot = Dot(x, row.x, 0, mains_), mains = Dot(x, row.x, mains_, columns_);
    float distance = 0;
    for (size_t c = 0; c < mains_; ++c) distance += (s[c] - scaled[c]) * (s[c] - scaled[c]);
    const float r = std::sqrt(5 * distance);
    out[i] += offset + linear * dot + main * mains + bend * (1 + r + r * r / 3) * std::exp(-r);
  }
}

double GaussianModel::LeftOut(double count) const {
  const size_t n = rows_.size();
  std::vector<double> column(n);
  double squares = count, weight = count;
  for (size_t i = 0; i < n; ++i) {
    // The error left out is alpha_i / Q, its variance 1 / Q, with Q = covariance^-1 (i, i) = |L^-1 e_i|^2.
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
  std::vector<float> k(rows_.size());
  Covariances(row, k.data());
  double mean = 0;
  for (size_t i = 0; i < rows_.size(); ++i) mean += k[i] * alpha_[i];
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
