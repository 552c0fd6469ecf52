#include "measure/inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/hash.h"
#include "base/rng.h"

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

}  // namespace

void FillOperand(const Operand& o, float* values) {
  const int64_t total = o.PhysicalElements();
  if (o.role == OperandRole::kOutput) {
    std::fill(values, values + total, std::numeric_limits<float>::quiet_NaN());
    return;
  }
  const uint64_t seed = Digest128(o.name).lo ^ kInputsVersion;
  const float scale = Scale(o);
  if (o.layout == Layout::kPlain) {
    for (int64_t i = 0; i < total; ++i) values[i] = scale * Unit(seed, static_cast<uint64_t>(i));
    return;
  }
  const int64_t channels = o.logical.shape[1], blocks = o.physical[1], lanes = o.physical.back();
  const int64_t images = o.physical[0], pixels = total / (images * blocks * lanes);
  for (int64_t n = 0; n < images; ++n) {
    for (int64_t c = 0; c < blocks * lanes; ++c) {
      float* plane = values + ((n * blocks + c / lanes) * pixels) * lanes + c % lanes;
      const int64_t first = (n * channels + c) * pixels;  // logical index of the plane's first element
      for (int64_t p = 0; p < pixels; ++p) {
        plane[p * lanes] = c < channels ? scale * Unit(seed, static_cast<uint64_t>(first + p)) : 0.0f;
      }
    }
  }
}

int64_t ReductionLength(const std::vector<Operand>& operands) {
  int64_t length = 1;
  for (const Operand& o : operands) {
    if (o.role == OperandRole::kConstant) length = std::max(length, FanIn(o));
  }
  return length;
}

}  // namespace hone::measure
