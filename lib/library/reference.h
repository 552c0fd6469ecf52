// The reference outputs of a network for one input, cached beside its library as they take seconds to compute and never
// change; and checks of a network's outputs against them or against another build.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "task/tensor_data.h"

namespace hone::library {

// The test inputs of a network: uniform in [-1, 1), integers in [-128, 128), u8 in [0, 256); determined by seed and
// input name. Stored as the library's caller stores them (graph::OutsideLayout): a network has the same images in all
// layouts.
std::vector<TensorData> BenchInputs(const graph::Graph& graph, uint64_t seed);

// The outputs of the reference execution for BenchInputs(graph, seed), in the graph's order, stored as the caller
// stores them. Reads them from `path` if the file holds them for exactly this graph and seed, else computes and writes
// them; warns if writing fails.
Result<std::vector<std::vector<double>>> ReferenceOutputs(const graph::Graph& graph, const graph::ParameterValues* file,
                                                          uint64_t seed, int threads, const std::string& path);

// Rounding through a few dozen layers of f32 gives errors of 1e-6 to 1e-5 of the outputs' deviation; a wrong kernel
// gives about 1.
inline constexpr double kOutputTolerance = 1e-3;

// The tolerance (RelativeError) for outputs of a network whose kernels may round by `rounding` beyond plain sums
// (NetworkRounding, library/kernels.h).
inline double OutputTolerance(double rounding) { return kOutputTolerance + rounding; }

// The largest difference between `found` and `expected` over the standard deviation of `expected`. Infinite if any
// value is not finite.
double RelativeError(const std::vector<double>& found, const std::vector<double>& expected);

// Returns kCorrupt if an output in `found` is off by more than the tolerance, or one of integers at all if there is no
// `rounding`; kInvalid if their number is wrong, with
// `where` as a prefix. Always sets `error` to the largest error.
Status VerifyOutputs(const std::string& where, double rounding, const std::vector<TensorData>& found,
                     const std::vector<std::vector<double>>& expected, double* error);

}  // namespace hone::library
