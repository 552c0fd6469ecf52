// The predictions of `auto`'s model for a task's points, given real and assumed measurements.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "search/tuner/auto_model.h"
#include "search/tuner/auto_points.h"

namespace hone::search {

// A point is a row of AutoPoints; a time is the logarithm of seconds. Its arguments must outlive it.
class AutoView {
 public:
  explicit AutoView(const AutoPoints& points);

  // Learns from trials' rows and times; `best` is the fastest. `prior` has each row's time, up to a constant, before
  // anything is measured. Forgets the candidates.
  void Fit(const std::vector<std::pair<size_t, double>>& trials, double best, const std::vector<float>& prior);

  // The factor of the variance of a time's noise.
  static double Doubt(double log_time, double best);

  double Mean(size_t row) const;
  double noise() const { return model_->noise() * model_->noise(); }  // noise variance of a time near the best

  // Candidates are rows whose uncertainty is updated by Believe; their number here identifies them.
  void Consider(const std::vector<size_t>& rows);
  double Variance(size_t candidate) const;
  // Assumes that the row will be measured: updates the candidates' uncertainty, keeps their means.
  void Believe(size_t row);

 private:
  struct Candidate {
    size_t row = 0;
    double variance = 0;
    std::vector<float> white;
  };

  GaussianRow Row(size_t row) const { return {points_.row(row), points_.template_of[row]}; }

  const AutoPoints& points_;
  std::vector<float> weights_;  // of each column in the model's distance
  const std::vector<float>* prior_ = nullptr;
  std::unique_ptr<GaussianModel> model_;
  double offset_ = 0;  // subtracted from the labels
  double honest_ = 1;  // factor that corrects the model's variances
  std::vector<Candidate> candidates_;
  std::vector<std::pair<size_t, std::vector<float>>> believed_;  // row, whitened
};

}  // namespace hone::search
