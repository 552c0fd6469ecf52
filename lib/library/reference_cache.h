// The reference outputs of a network for one input, kept beside its library: they take seconds, and never change.
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

}  // namespace hone::library
