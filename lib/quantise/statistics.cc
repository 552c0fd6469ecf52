#include "quantise/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace hone::quantise {
namespace {

constexpr int kLevels = 128;

// Spreads each of kLevels groups of bins evenly over its bins that are not empty.
std::vector<double> Merged(std::span<const uint64_t> bins) {
  std::vector<double> merged(bins.size());
  for (size_t level = 0; level < kLevels; ++level) {
    const size_t begin = bins.size() * level / kLevels, end = bins.size() * (level + 1) / kLevels;
    uint64_t sum = 0, used = 0;
    for (size_t i = begin; i < end; ++i) sum += bins[i], used += bins[i] != 0;
    for (size_t i = begin; i < end; ++i) {
      if (bins[i] != 0) merged[i] = static_cast<double>(sum) / static_cast<double>(used);
    }
  }
  return merged;
}

// KL(P || Q) of the bins as they are, the last one with those beyond, and as 128 levels.
double Divergence(std::span<const uint64_t> bins, uint64_t beyond) {
  const std::vector<double> q = Merged(bins);
  const double p_sum = static_cast<double>(std::accumulate(bins.begin(), bins.end(), beyond));
  const double q_sum = std::accumulate(q.begin(), q.end(), 0.0);
  if (q_sum == 0) return std::numeric_limits<double>::infinity();
  double divergence = 0;
  for (size_t i = 0; i < bins.size(); ++i) {
    const double p = static_cast<double>(bins[i] + (i + 1 == bins.size() ? beyond : 0)) / p_sum;
    if (p == 0) continue;
    // Clipped values that fall into an empty bin: Q has nothing there.
    const double other = q[i] > 0 ? q[i] / q_sum : 1e-4 / q_sum;
    divergence += p * std::log(p / other);
  }
  return divergence;
}

}  // namespace

Statistics::Statistics(const TensorType& type) {
  if (type.shape.size() > 1) channels_ = static_cast<size_t>(type.shape[1]);
  for (size_t axis = 2; axis < type.shape.size(); ++axis) inner_ *= static_cast<size_t>(type.shape[axis]);
  sums_.resize(channels_);
}

bool Statistics::AddValues(std::span<const float> values) {
  if (count_ == 0 && !values.empty()) least_ = most_ = values[0];
  double all = 0;  // not finite if a value is not
  for (size_t at = 0, channel = 0; at < values.size(); at += inner_) {
    float least = least_, most = most_;
    double sum = 0;
    for (const float value : values.subspan(at, std::min(inner_, values.size() - at))) {
      least = std::min(least, value), most = std::max(most, value);
      sum += static_cast<double>(value);
    }
    least_ = least, most_ = most;
    sums_[channel] += sum, all += sum;
    if (++channel == channels_) channel = 0;
  }
  count_ += values.size() / channels_;
  return std::isfinite(all);
}

void Statistics::AddToHistogram(std::span<const float> values) {
  const float magnitude = Magnitude();
  if (magnitude == 0) return;
  const float scale = kBins / magnitude;
  for (const float value : values) {
    const float bin = std::fabs(value) * scale;
    ++histogram_[bin < kBins ? static_cast<size_t>(bin) : kBins - 1];
  }
}

float Statistics::Magnitude() const { return std::max(std::fabs(least_), std::fabs(most_)); }

std::vector<double> Statistics::Means() const {
  std::vector<double> means = sums_;
  for (double& mean : means) mean /= static_cast<double>(std::max<uint64_t>(count_, 1));
  return means;
}

int KlBins(std::span<const uint64_t> values) {
  std::vector<uint64_t> histogram(values.begin(), values.end());
  histogram[0] = histogram[1];
  const auto size = static_cast<int>(histogram.size());
  uint64_t beyond = std::accumulate(histogram.begin(), histogram.end(), uint64_t{0});
  for (int i = 0; i < kLevels && i < size; ++i) beyond -= histogram[static_cast<size_t>(i)];
  int best = size;
  double least = std::numeric_limits<double>::infinity();
  for (int bins = kLevels; bins <= size; ++bins) {
    const double divergence = Divergence(std::span(histogram).first(static_cast<size_t>(bins)), beyond);
    if (divergence < least) least = divergence, best = bins;
    if (bins < size) beyond -= histogram[static_cast<size_t>(bins)];
  }
  return best;
}

float ChooseLimit(const Statistics& statistics, Method method, double percentile) {
  const float magnitude = statistics.Magnitude();
  if (method == Method::kMax || magnitude == 0) return magnitude;
  const auto& histogram = statistics.histogram();
  int bins = kBins;
  if (method == Method::kKl) {
    bins = KlBins(histogram);
  } else {
    const uint64_t all = std::accumulate(histogram.begin(), histogram.end(), uint64_t{0});
    const double wanted = percentile / 100 * static_cast<double>(all);
    uint64_t below = 0;
    bins = 0;
    do {
      below += histogram[static_cast<size_t>(bins++)];
    } while (bins < kBins && static_cast<double>(below) < wanted);
  }
  return bins == kBins ? magnitude : magnitude * static_cast<float>(bins) / kBins;
}

}  // namespace hone::quantise
