// Rows of features of points, of the kind that a tuner needs. They do not depend on the number of threads.
#pragma once

#include <memory>
#include <vector>

#include "search/space/space.h"
#include "search/tuner/context.h"

namespace hone::search {

enum class FeatureKind { kKnob, kItervar, kCurve, kStores };  // kStores: all rows of StoreFeatures as one

class FeatureRows {
 public:
  virtual ~FeatureRows() = default;
  // One row per index, of any length: a matrix cuts or pads it. Points that cannot be lowered have empty rows.
  virtual std::vector<std::vector<float>> Rows(const std::vector<PointIndex>& indices) = 0;
  virtual std::vector<float> RowOfDonor(const Donor& donor, const Config& config) = 0;
};

// `space` and `context` must outlive it. REQUIRES: context.loops, except for kKnob.
std::unique_ptr<FeatureRows> MakeFeatureRows(FeatureKind kind, const TaskSpace& space, const TunerContext& context);

}  // namespace hone::search
