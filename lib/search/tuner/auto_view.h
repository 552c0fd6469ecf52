// The predictions of `auto`'s model for a task's points, given past and assumed measurements.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "search/tuner/auto_model.h"
#include "search/tuner/auto_points.h"

namespace hone::search {

// A point is a row of AutoPoints, a time the logarithm of seconds. Its arguments must outlive it.
class AutoView {
 public:
  explicit AutoView(const AutoPoints& points);

  // Learns from trials' rows and times, of which `best` is the fastest. `prior`: of each row its time but for a
  // constant, before anything is measured. Forgets the candidates.
  void Fit(const std::vector<std::pair<size_t, double>>& trials, double best, const std::vector<float>& prior);

  double Mean(size_t row) const;
  double noise() const { return model_->noise() * model_->noise(); }  // the variance of a time of one of the best

  // Candidates are rows whose uncertainty is followed while others are believed; they are known by their place here.
  void Consider(const std::vector<size_t>& rows);
  double Variance(size_t candidate) const;
  // The row will be measured: candidates are as uncertain as they will be then, their means stay.
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
  double offset_ = 0;  // taken from the labels
  double honest_ = 1;  // what the model's variances have to be multiplied by
  std::vector<Candidate> candidates_;
  std::vector<std::pair<size_t, std::vector<float>>> believed_;  // row, whitened
};

}  // namespace hone::search
