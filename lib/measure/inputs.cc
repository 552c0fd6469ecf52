#include "measure/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/hash.h"
#include "base/rng.h"
#include "base/text.h"
#include "semantics/quantise.h"

namespace hone::measure {
namespace {

// Uniform in (-1, 1), never 0: odd multiples of 2^-24.
float Unit(uint64_t seed, uint64_t index) {
  const uint64_t bits = Mix64(seed + index * 0x9e3779b97f4a7c15ull) >> 40;
  return static_cast<float>(2.0 * (static_cast<double>(bits) + 0.5) * 0x1p-24 - 1.0);
}

int64_t FanIn(const Operand& o) {
  if (o.logical.shape.size() < 2 || o.logical.shape[0] == 0) return 1;
  return std::max<int64_t>(1, o.logical.Elements() / o.logical.shape[0]);
}

float Scale(const Operand& o) {
  if (o.role != OperandRole::kConstant) return std::sqrt(3.0f);  // deviation 1
  if (o.logical.shape.size() < 2) return 0.5f;
  return static_cast<float>(std::sqrt(3.0 * 2.0 / static_cast<double>(FanIn(o))));
}

// Whether the operand has that name, in a member of a group as well.
bool IsCalled(const Operand& o, const char* name) {
  return o.name == name || EndsWith(o.name, fmt::format(".{}", name));
}

// Element `index` of the operand, in logical order.
double ValueAt(const Operand& o, uint64_t seed, float scale, int64_t index) {
  const float unit = Unit(seed, static_cast<uint64_t>(index));
  // Some channels leave the limits often, and some never.
  if (IsCalled(o, "multiplier")) return std::exp2(-10 + 4 * unit);
  // From left of the sums to right of most.
  if (IsCalled(o, "shift")) return std::floor(6 + 9 * static_cast<double>(unit));
  if (IsCalled(o, "residual_shift")) return std::floor(8 + 8 * static_cast<double>(unit));
  if (o.logical.type.is_float()) return scale * unit;
  const double low = semantics::LimitsOf(o.logical.type).first;
  double value = std::floor((static_cast<double>(unit) + 1) / 2 * 256) + low;
  // The zero point lies between the least and the most value.
  const int64_t limit = index + 3 - o.logical.Elements();  // those of a shift lack the zero point
  if (IsCalled(o, "limits")) value = low + (limit == 0 ? 140 : limit == 1 ? 3 : 250);
  return value == 0 ? 1 : value;
}

}  // namespace

TensorData MakeInput(const Operand& o) {
  const TensorType stored{o.logical.type, o.physical};
  const int64_t total = o.PhysicalElements();
  std::vector<double> values(static_cast<size_t>(total), 0.0);
  if (o.role == OperandRole::kOutput) {
    if (stored.type.is_float()) std::fill(values.begin(), values.end(), std::numeric_limits<double>::quiet_NaN());
    return TensorData(stored, values);
  }
  const uint64_t seed = Digest128(o.name).lo ^ kInputsVersion;
  const float scale = Scale(o);
  if (o.layout == Layout::kPlain) {
    for (int64_t i = 0; i < total; ++i) values[static_cast<size_t>(i)] = ValueAt(o, seed, scale, i);
    return TensorData(stored, values);
  }
  // Channels last is one block of all channels.
  const bool last = o.layout == Layout::kChannelsLast;
  const int64_t channels = o.logical.shape[1], blocks = last ? 1 : o.physical[1], lanes = o.physical.back();
  const int64_t images = o.physical[0], pixels = total / (images * blocks * lanes);
  for (int64_t n = 0; n < images; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      double* plane = values.data() + ((n * blocks + c / lanes) * pixels) * lanes + c % lanes;
      const int64_t first = (n * channels + c) * pixels;  // logical index of the plane's first element
      for (int64_t p = 0; p < pixels; ++p) plane[p * lanes] = ValueAt(o, seed, scale, first + p);
    }
  }
  return TensorData(stored, values);
}

int64_t ReductionLength(const std::vector<Operand>& operands) {
  int64_t length = 1;
  for (const Operand& o : operands) {
    if (o.role == OperandRole::kConstant) length = std::max(length, FanIn(o));
  }
  return length;
}

}  // namespace hone::measure
