// From a network of floats with quantised tensors to operators of integers.
//
// The input is the form that quantisers write ("QDQ"): nodes `quantise` behind quantised tensors, and `dequantise`
// before their readers. Weights are floats; a grid for each says how they are quantised. Scales and zero points are
// parameters with values. The result computes the same function, but for roundings of floats between the two nodes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "graph/graph.h"

namespace hone::graph {

// The numbers that a tensor of `type` (u8 or i8) can stand for: scale * (q - zero). One scale and zero point for the
// tensor, or one for each output channel.
struct Grid {
  DType type = DType::Int(8);
  std::vector<float> scales;
  std::vector<int32_t> zeros;  // as many as scales
  // The integer that stands for x, in the output channel if each has a scale. Ties go to even; a NaN becomes the least.
  double IntegerFor(double x, size_t channel = 0) const;
  bool operator==(const Grid&) const = default;
};

// By the names of parameters that are weights of convolutions and dense layers.
using WeightGrids = std::map<std::string, Grid>;

// When tensors have one grid: if they have the same parameters as scale and zero point, or also if these are equal.
// Only by name, the result is the same graph for all values.
enum class SameGrids { kByName, kByValue };

// How sums of integers become bytes: by multipliers (`requant`), or by shifts, if all scales are powers of two.
enum class Rescaling { kMultiply, kShift };

// In this order:
//   - A layer (conv2d, conv3d, dense) of dequantised data and a weight that has a grid becomes sums of integers. The
//     weight is rounded to its grid and stored as i8, the bias as i32. If only `quantise` reads the layer, it becomes
//     `requant` or `shift`, with the activation as limits, and a dequantised residual becomes `add(T)`. If others read
//     it, `dequantise` follows the sums.
//   - Sums of two dequantised tensors, activations of one, and one that is quantised to another grid become
//     `requantise`, with shifts in its form of powers of two, and so do the parts of a concatenation of such tensors.
//   - Operators that move elements or take maxima, and averages over windows, work on bytes if all their data has one
//     grid: `dequantise` moves behind them, and meets `quantise` of the same grid, which then both go.
// A layer stays as it is if its sums or bias could leave i32; it keeps the float weight. Parameters that no node reads
// are dropped from `values`.
//
// Fuses epilogues first (FuseEpilogue). Returns kInvalid, naming the node, for a grid that does not fit its weight, and
// for a scale that is not a positive normal number. With shifts, also for scales that are not powers of two, zero
// points other than 0, a residual that is finer than the sums, and values that could leave i32 on an accelerator that
// sums, rounds and shifts in 32 bits: it then has the same bits for all inputs of the network.
Status UseIntegers(const WeightGrids& weights, SameGrids same, Graph* graph, ParameterValues* values,
                   Rescaling rescaling = Rescaling::kMultiply);

}  // namespace hone::graph
