// The settings of the Gaussian process of `auto` (auto_model.h), and a search for those that explain given values best.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace hone::search {

// The Matern 5/2 function of a squared distance.
template <typename Real>
Real Matern52(Real squared) {
  const Real r = std::sqrt(5 * squared);
  return (1 + r + r * r / 3) * std::exp(-r);
}

struct GaussianSettings {
  double common = 3.0, offset = 0.25;  // deviations
  double linear = 0.15, main = 0.1, bend = 0.25, noise = 0.07;
  double length = 1.0;  // divides the weights of all columns
};

// A row of the training set; the data is owned elsewhere.
struct GaussianRow {
  const float* x = nullptr;
  int group = 0;
};

struct TunedSettings {
  GaussianSettings settings;
  std::vector<float> weights;  // of each column in the distance
};

// Maximises the posterior density by coordinate search from the defaults and `weights`, so that equal data give equal
// settings; a column of weight 0 keeps it. `columns` is the total per row, including u. `doubts` multiplies the
// variance of each value's noise. With many rows, it uses the least doubted (fastest) and the newest ones.
TunedSettings TuneSettings(const std::vector<GaussianRow>& rows, const std::vector<double>& values,
                           const std::vector<double>& doubts, size_t columns, const std::vector<float>& weights);

}  // namespace hone::search
