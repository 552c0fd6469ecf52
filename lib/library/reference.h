// The reference outputs of a network for one input, kept beside its library: they take seconds, and never change. And
// whether the outputs of a built network are right: against those, or another build of the same network.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/parameters.h"
#include "task/tensor_data.h"

namespace hone::library {

// The inputs that a network is run on: uniform in [-1, 1), integers in [-128, 128), by seed and the input's name.
std::vector<TensorData> BenchInputs(const graph::Graph& graph, uint64_t seed);

// The outputs of the reference execution for BenchInputs(graph, seed), in the graph's order; read from `path` if that
// holds them for exactly this graph and seed, else computed and written there (a warning if that cannot be).
Result<std::vector<std::vector<double>>> ReferenceOutputs(const graph::Graph& graph, const graph::ParameterValues* file,
                                                          uint64_t seed, int threads, const std::string& path);

// Rounding through a few dozen layers of f32 makes 1e-6 to 1e-5 of the outputs' deviation; a wrong kernel makes
// about 1.
inline constexpr double kOutputTolerance = 1e-3;

// The tolerance (RelativeError) for outputs of a network whose kernels may round this much beyond plain sums
// (NetworkRounding, library/kernels.h).
inline double OutputTolerance(double rounding) { return kOutputTolerance + rounding; }

// How far `found` is from `expected`: the largest difference over the expected values' standard deviation. Infinite if
// anything is not finite.
double RelativeError(const std::vector<double>& found, const std::vector<double>& expected);

// kCorrupt if an output in `found` is off by more than the tolerance, kInvalid if they are not as many as expected;
// with `where` in front. `error`: the largest, also then.
Status VerifyOutputs(const std::string& where, double rounding, const std::vector<TensorData>& found,
                     const std::vector<std::vector<double>>& expected, double* error);

}  // namespace hone::library
