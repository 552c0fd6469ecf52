#include "quantise/grids.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "semantics/quantise.h"

namespace hone::quantise {
namespace {

constexpr double kMost = 127;  // of a symmetric grid: -128 would have no counterpart
// Half of what graph::UseIntegers takes: the step is then rounded, and the bias corrected.
constexpr double kMostBias = 0x1p28;

// The step that reaches `most` in `steps` steps; a power of two if the scheme wants that. 1 for 0, as no step would do.
// Steps so small that products of two are not normal numbers are useless, and so are those below `least`.
float Step(double most, double steps, Scheme scheme, double least = 0) {
  if (most == 0 && least == 0) return 1;
  const double step = std::max({most / steps, least, 0x1p-60});
  return static_cast<float>(scheme == Scheme::kPower2 ? std::exp2(std::ceil(std::log2(step))) : step);
}

}  // namespace

Range Joined(const Range& a, const Range& b) { return {std::min(a.least, b.least), std::max(a.most, b.most)}; }

graph::Grid ActivationGrid(const Range& range, Scheme scheme) {
  if (scheme != Scheme::kAffine) {
    return {DType::Int(8), {Step(std::max(-range.least, range.most), kMost, scheme)}, {0}};
  }
  const float scale = Step(static_cast<double>(range.most) - static_cast<double>(range.least), 255, scheme);
  const double zero = std::nearbyint(-static_cast<double>(range.least) / static_cast<double>(scale));
  return {DType::UInt(8), {scale}, {static_cast<int32_t>(std::clamp(zero, 0.0, 255.0))}};
}

graph::Grid WeightGrid(const TensorData& weight, const std::vector<double>& bias, float input_scale, float output_scale,
                       const Settings& settings) {
  const auto channels = static_cast<size_t>(weight.type.shape[0]);
  const auto values = weight.as<float>();
  const size_t each = values.size() / channels;
  std::vector<double> needed(channels);
  double most = 0;
  for (size_t c = 0; c < channels; ++c) {
    double magnitude = 0;
    for (const float w : values.subspan(c * each, each))
      magnitude = std::max(magnitude, std::fabs(static_cast<double>(w)));
    if (!bias.empty()) {
      magnitude = std::max(magnitude, kMost * std::fabs(bias[c]) / (static_cast<double>(input_scale) * kMostBias));
    }
    needed[c] = magnitude;
    most = std::max(most, magnitude);
  }
  const double least =
      settings.scheme == Scheme::kPower2 ? std::ldexp(static_cast<double>(output_scale / input_scale), -kMostShift) : 0;
  graph::Grid grid{DType::Int(8), {}, {}};
  for (size_t c = 0; c < (settings.per_channel ? channels : 1); ++c) {
    grid.scales.push_back(Step(settings.per_channel ? needed[c] : most, kMost, settings.scheme, least));
    grid.zeros.push_back(0);
  }
  return grid;
}

double OnGrid(double x, const graph::Grid& grid, size_t channel) {
  const size_t i = grid.scales.size() == 1 ? 0 : channel;
  return (grid.IntegerFor(x, channel) - grid.zeros[i]) * static_cast<double>(grid.scales[i]);
}

int64_t CountClipped(std::span<const float> values, const graph::Grid& grid) {
  const auto [low, high] = semantics::LimitsOf(grid.type);
  const float scale = grid.scales[0], zero = static_cast<float>(grid.zeros[0]);
  const float least = (static_cast<float>(low) - zero - 0.5F) * scale;
  const float most = (static_cast<float>(high) - zero + 0.5F) * scale;
  return std::ranges::count_if(values, [&](float x) { return x < least || x > most; });
}

}  // namespace hone::quantise
