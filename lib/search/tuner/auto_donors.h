// What trials of other shapes say about the points of this one.
#pragma once

#include <memory>
#include <vector>

#include "search/space/space.h"
#include "search/tuner/auto_model.h"
#include "search/tuner/auto_points.h"
#include "search/tuner/context.h"

namespace hone::search {

// The mean of a Gaussian process over the donors' log(time) - log(estimate), or log(time) where no template has an
// estimate, each donor less its mean. It is as large as donors predict each other: each is predicted by the others, and
// the slope of its labels over what was predicted (nearer donors count for more) is what of the correction is believed,
// 0 to 1; of one alone half is. Deterministic.
class DonorModel {
 public:
  // `points` must outlive it.
  DonorModel(const AutoPoints& points, const TaskSpace& space, const TunerContext& context);

  bool empty() const { return model_ == nullptr; }  // without donors
  // What is to be added to a row's log_cost, but for a constant. REQUIRES: !empty()
  float Correction(size_t row) const;

 private:
  const AutoPoints& points_;
  std::vector<std::vector<float>> values_;  // the rows that it learned from
  std::unique_ptr<GaussianModel> model_;
  double share_ = 0;  // of its means, what is believed
};

}  // namespace hone::search
