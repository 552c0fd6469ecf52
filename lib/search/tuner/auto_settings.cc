#include "search/tuner/auto_settings.h"

#include <algorithm>

#include "search/tuner/cholesky.h"

namespace hone::search {
namespace {

constexpr size_t kTuneRows = 64;         // more rows add little to the settings, and cost their cube
constexpr size_t kFewestOfWeights = 12;  // fewer rows tell nothing about single columns

double Square(double x) { return x * x; }

// The penalty of a setting's distance from its default: a log-normal prior of this width.
double Penalty(double value, double usual, double width) { return 0.5 * Square(std::log(value / usual) / width); }

// The fastest half and the newest half. The fastest are the least doubted: values are residuals of an estimate, and the
// lowest residuals may belong to slow points.
std::vector<size_t> Asked(const std::vector<double>& doubts) {
  std::vector<size_t> chosen(doubts.size());
  for (size_t i = 0; i < chosen.size(); ++i) chosen[i] = i;
  if (doubts.size() <= kTuneRows) return chosen;
  std::stable_sort(chosen.begin(), chosen.end(), [&](size_t a, size_t b) { return doubts[a] < doubts[b]; });
  std::vector<size_t> rest(chosen.begin() + kTuneRows / 2, chosen.end());
  std::sort(rest.rbegin(), rest.rend());
  chosen.resize(kTuneRows / 2);
  chosen.insert(chosen.end(), rest.begin(), rest.begin() + kTuneRows / 2);
  return chosen;
}

// Settings, and for each pair of rows the quantities that depend only on length and weights: most attempts change one
// number, and one pass adds a column's part to the distances.
struct State {
  TunedSettings tuned;
  std::vector<float> distances;  // squared, before `length`
  std::vector<float> bends;      // the Matern function of them
  double density = 0;
};

class SettingsSearch {
 public:
  SettingsSearch(const std::vector<GaussianRow>& rows, const std::vector<double>& values,
                 const std::vector<double>& doubts, size_t columns, const std::vector<float>& weights)
      : defaults_(weights), has_mains_(weights.size() < columns) {
    for (const size_t i : Asked(doubts)) {
      values_.push_back(values[i]);
      doubts_.push_back(doubts[i]);
      rows_.push_back(rows[i]);
    }
    const size_t mains = weights.size(), n = rows_.size();
    pairs_ = n * (n - 1) / 2;
    squares_.resize(mains * pairs_);
    differs_.resize(mains, false);
    size_t pair = 0;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        const float *a = rows_[i].x, *b = rows_[j].x;
        float dot = 0, main = 0;
        for (size_t c = 0; c < mains; ++c) dot += a[c] * b[c];
        for (size_t c = mains; c < columns; ++c) main += a[c] * b[c];
        dots_.push_back(dot);
        mains_.push_back(main);
        if (j == i) continue;
        for (size_t c = 0; c < mains; ++c) {
          const float d = a[c] - b[c];
          squares_[c * pairs_ + pair] = d * d;
          if (d != 0 && rows_[i].group == rows_[j].group) differs_[c] = true;
        }
        ++pair;
      }
    }
  }

  TunedSettings Run() {
    best_.tuned.weights = defaults_;
    best_.distances.assign(pairs_, 0);
    for (size_t c = 0; c < defaults_.size(); ++c) AddColumn(c, Square(defaults_[c]), &best_);
    Bend(&best_);
    best_.density = LogDensity(best_);
    std::vector<double GaussianSettings::*> fields = {&GaussianSettings::bend, &GaussianSettings::length,
                                                      &GaussianSettings::linear, &GaussianSettings::noise};
    if (has_mains_) fields.push_back(&GaussianSettings::main);
    for (int round = 0; round < 2; ++round) {
      for (auto field : fields) {
        for (const double factor : {1.6, 1 / 1.6}) {
          for (int steps = 0; steps < 3 && Multiply(field, factor); ++steps) {
          }
        }
      }
      if (rows_.size() < kFewestOfWeights) continue;
      for (size_t c = 0; c < defaults_.size(); ++c) {
        // A column without variation explains nothing.
        if (defaults_[c] > 0 && differs_[c] && !Widen(c, 2.0F)) Widen(c, 0.5F);
      }
    }
    return best_.tuned;
  }

 private:
  // Each tries a change, keeps it if it explains the values better, and returns whether it did.
  bool Multiply(double GaussianSettings::*field, double factor) {
    State tried = best_;
    tried.tuned.settings.*field *= factor;
    if (field == &GaussianSettings::length) Bend(&tried);
    return Keep(std::move(tried));
  }

  bool Widen(size_t column, float factor) {
    State tried = best_;
    float& weight = tried.tuned.weights[column];
    AddColumn(column, Square(weight * factor) - Square(weight), &tried);
    weight *= factor;
    Bend(&tried);
    return Keep(std::move(tried));
  }

  bool Keep(State tried) {
    tried.density = LogDensity(tried);
    if (tried.density <= best_.density) return false;
    best_ = std::move(tried);
    return true;
  }

  void AddColumn(size_t column, double scale, State* state) const {
    const float* squares = squares_.data() + column * pairs_;
    const auto factor = static_cast<float>(scale);
    for (size_t p = 0; p < pairs_; ++p) state->distances[p] += factor * squares[p];
  }

  void Bend(State* state) const {
    const auto shrink = static_cast<float>(1 / Square(state->tuned.settings.length));
    state->bends.resize(pairs_);
    for (size_t p = 0; p < pairs_; ++p) {
      // Rounding may make the difference slightly negative.
      state->bends[p] = Matern52(std::max(state->distances[p], 0.0F) * shrink);
    }
  }

  double LogDensity(const State& state) const {
    const size_t n = rows_.size();
    const GaussianSettings& s = state.tuned.settings;
    std::vector<double> k(n * n, 0);
    size_t pair = 0, dot = 0;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j <= i; ++j, ++dot) {
        double sum = s.common * s.common;
        if (rows_[i].group == rows_[j].group) {
          sum += Square(s.offset) + Square(s.linear) * dots_[dot] + Square(s.main) * mains_[dot];
          sum += Square(s.bend) * (i == j ? 1 : state.bends[pair]);
        }
        if (i == j) {
          sum += Square(s.noise) * doubts_[i];
        } else {
          ++pair;
        }
        k[i * n + j] = sum;
      }
    }
    if (!Cholesky(n, &k)) return -INFINITY;
    std::vector<double> y = values_;
    Forward(n, k, &y);
    double density = 0;
    for (size_t i = 0; i < n; ++i) density -= 0.5 * y[i] * y[i] + std::log(k[i * n + i]);
    const GaussianSettings usual;
    density -= Penalty(s.linear, usual.linear, 0.7) + Penalty(s.bend, usual.bend, 0.7) +
               Penalty(s.length, usual.length, 0.6) + Penalty(s.noise, usual.noise, 0.8);
    if (has_mains_) density -= Penalty(s.main, usual.main, 0.7);
    for (size_t c = 0; c < defaults_.size(); ++c) {
      if (defaults_[c] > 0) density -= Penalty(state.tuned.weights[c], defaults_[c], 0.8);
    }
    return density;
  }

  const std::vector<float> defaults_;  // weights
  const bool has_mains_;
  std::vector<GaussianRow> rows_;
  std::vector<double> values_, doubts_;
  size_t pairs_ = 0;                 // (i, j < i), i by i
  std::vector<float> squares_;       // per column of x: the squared differences of all pairs
  std::vector<bool> differs_;        // columns in which rows of a group differ
  std::vector<float> dots_, mains_;  // (i, j <= i): dot products of x and of u
  State best_;
};

}  // namespace

TunedSettings TuneSettings(const std::vector<GaussianRow>& rows, const std::vector<double>& values,
                           const std::vector<double>& doubts, size_t columns, const std::vector<float>& weights) {
  return SettingsSearch(rows, values, doubts, columns, weights).Run();
}

}  // namespace hone::search
