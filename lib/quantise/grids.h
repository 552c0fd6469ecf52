// The numbers that quantised tensors can stand for, from what their values were.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/integers.h"
#include "quantise/settings.h"
#include "task/tensor_data.h"

namespace hone::quantise {

struct Range {
  float least = 0, most = 0;  // least <= 0 <= most: padding and the lanes of partial blocks are zeros
};

Range Joined(const Range& a, const Range& b);

// The grid of activations in this range. Affine: u8, from the least to the most value, and 0 is on the grid. Others:
// i8, -127 to 127, with zero point 0. A range without any other value than 0 gets the scale 1.
graph::Grid ActivationGrid(const Range& range, Scheme scheme);

// The grid of a layer's weight: i8, -127 to 127, zero point 0, one scale for each channel (axis 0), or one. `bias` is
// empty or has one value for each channel. A channel's scale is large enough for its bias to fit into i32, in steps of
// the input's scale times the weight's. For power2 and an output with a scale (else 0), no channel's scale is so small
// that its sums are shifted by more than kMostShift bits: rounding it moves a product by at most 1/512 of the output's
// step.
inline constexpr int kMostShift = 15;  // 2^(n-1) then fits into 16 bits, as instructions of accelerators need
graph::Grid WeightGrid(const TensorData& weight, const std::vector<double>& bias, float input_scale, float output_scale,
                       const Settings& settings);

// The value of x on the grid, of the channel.
double OnGrid(double x, const graph::Grid& grid, size_t channel = 0);

// How many of these values the grid cannot reach: below its least or above its most value by more than half a
// step.
int64_t CountClipped(std::span<const float> values, const graph::Grid& grid);

}  // namespace hone::quantise
