// The values of a tensor during calibration. Filled in two passes over the same inputs: extremes and means
// first, then a histogram up to the largest magnitude. Values are added in the order of the inputs and of the elements,
// so the result does not depend on threads.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "quantise/settings.h"
#include "task/workload.h"

namespace hone::quantise {

inline constexpr int kBins = 2048;

class Statistics {
 public:
  Statistics() = default;
  // Axis 1 has the channels.
  explicit Statistics(const TensorType& type);

  // The first pass. False if a value is not finite. REQUIRES: the type's number of values.
  bool AddValues(std::span<const float> values);
  // The second pass.
  void AddToHistogram(std::span<const float> values);

  float least() const { return least_; }
  float most() const { return most_; }
  float Magnitude() const;            // the largest
  std::vector<double> Means() const;  // of each channel
  // Of magnitudes, in bins of equal width from 0 to Magnitude().
  const std::array<uint64_t, kBins>& histogram() const { return histogram_; }

 private:
  size_t channels_ = 1, inner_ = 1;
  uint64_t count_ = 0;  // of values of each channel
  float least_ = 0, most_ = 0;
  std::vector<double> sums_;
  std::array<uint64_t, kBins> histogram_{};
};

// The limit on magnitudes that the method chooses; values beyond it are clipped. Above 0 unless all values are 0.
float ChooseLimit(const Statistics& statistics, Method method, double percentile);

// The bin after which to clip, of a histogram of magnitudes. TensorRT's method (S. Migacz, "8-bit Inference with
// TensorRT", GTC 2017): for each limit, the values beyond it join the last bin and give the distribution P; the bins
// below the limit, merged into 128 levels and spread evenly over the bins in use, give Q; the limit with the least
// divergence KL(P || Q) wins. Zeros, which every grid has and which a relu makes, do not count: the first bin counts as
// the second one. Returns a number of bins from 128 to the histogram's.
int KlBins(std::span<const uint64_t> histogram);

}  // namespace hone::quantise
