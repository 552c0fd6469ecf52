// Predicts the points of a task from trials of other shapes.
#pragma once

#include <memory>
#include <vector>

#include "search/space/space.h"
#include "search/tuner/auto_model.h"
#include "search/tuner/auto_points.h"
#include "search/tuner/context.h"

namespace hone::search {

// The mean of a Gaussian process over the donors' log(time) - log(estimate), or log(time) if no template has an
// estimate, minus the donor's mean. The correction is scaled by how well donors predict each other: each donor is
// predicted from the others, and the scale is the slope, 0 to 1, of its labels over the predictions (nearer donors
// count for more). With a single donor the scale is one half. Deterministic.
class DonorModel {
 public:
  // `points` must outlive it.
  DonorModel(const AutoPoints& points, const TaskSpace& space, const TunerContext& context);

  bool empty() const { return model_ == nullptr; }  // true without donors
  // The correction to add to a row's log_cost, up to a constant. REQUIRES: !empty()
  float Correction(size_t row) const;

 private:
  const AutoPoints& points_;
  std::vector<std::vector<float>> values_;  // the rows that it learned from
  std::unique_ptr<GaussianModel> model_;
  double share_ = 0;  // scale of the predicted means
};

}  // namespace hone::search
