// The model of `auto`: a Gaussian process over rows of numbers. It predicts the residuals of an estimate from few
// observations with little noise, and its own uncertainty where nothing was observed.
//
// Idea: similar points have similar residuals, and a covariance measures similarity. For two rows of one group (a
// template) it is
//   offset^2 + linear^2 x.y + main^2 u.v + bend^2 M(|w (x - y)|)
// where M(r) is the Matern 5/2 function, x and y are the columns that measure distance, and u and v the columns that
// only add up. Rows of different groups share only a constant: the scale of all observations.
// Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006: 2.2, 4.2, 5.4.
// Invariant: equal inputs give equal predictions in one build; nothing depends on threads or on time.
#pragma once

#include <cstddef>
#include <vector>

#include "search/tuner/auto_settings.h"

namespace hone::search {

class GaussianModel {
 public:
  static constexpr size_t kMostColumns = 256;

  // At most kMostColumns. `weights` has the weight of each column of x in the distance, 1 / (length over which values
  // change); the columns of u follow those of x.
  GaussianModel(size_t columns, std::vector<float> weights);

  // Learns from rows and values. If `tune`, first finds the settings that explain the values best (TuneSettings); else
  // uses the current ones. Keeps pointers to the rows. Deterministic. `doubts` multiplies the variance of each value's
  // noise; empty: all 1.
  void Fit(std::vector<GaussianRow> rows, std::vector<double> values, bool tune, std::vector<double> doubts = {});

  size_t size() const { return rows_.size(); }
  const GaussianSettings& settings() const { return settings_; }
  void set_settings(const GaussianSettings& s) { settings_ = s; }

  double Mean(const GaussianRow& row) const;
  // L^-1 k of a row, size() numbers: observing a row reduces a covariance by the dot product of two of these.
  void Whiten(const GaussianRow& row, float* out) const;
  double Covariance(const GaussianRow& a, const GaussianRow& b) const;  // before any observation
  double noise() const { return settings_.noise; }

  // The mean squared error, in predicted deviations, of predicting each row from all others. Rows are weighted by 1 /
  // their doubts, and `count` further rows count as having the expected error. An honest model gives 1. (Rasmussen and
  // Williams, 5.4.2.)
  double LeftOut(double count) const;

 private:
  // The contribution of the covariance's sums to means, with all rows of a group combined.
  struct Slope {
    int group = 0;
    double constant = 0;
    std::vector<float> columns;
  };

  void Covariances(const GaussianRow& row, float* out) const;  // with each row learned from
  void Scale(const GaussianRow& row, float* out) const;        // x times the weights
  void Sum();                                                  // computes common_ and slopes_

  size_t columns_, mains_;  // total; those before u
  std::vector<float> default_weights_, weights_;
  GaussianSettings settings_;
  std::vector<GaussianRow> rows_;
  std::vector<float> scaled_;   // rows x columns, times weights
  std::vector<float> factor_;   // lower triangle of the covariance's Cholesky factor, row by row, full width
  std::vector<float> inverse_;  // 1 / its diagonal
  std::vector<double> alpha_;   // covariance^-1 values
  double common_ = 0;           // the part of a mean that does not depend on its row
  std::vector<Slope> slopes_;
  std::vector<double> doubts_;
};

}  // namespace hone::search
