// The values of a graph's parameters: made from their recipes, or read from a file.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "task/tensor_data.h"

namespace hone::graph {

// Values by parameter name, of the parameter's type and logical shape.
using ParameterValues = std::map<std::string, TensorData>;

// All parameters of `graph`. `file` gives those of kind kFile (null if there is none): kNotFound or kInvalid with the
// name for one that is missing there or has another type. A seeded value depends on the graph's seed, the parameter's
// name and its index alone: the same on every platform.
Result<ParameterValues> MakeParameters(const Graph& graph, const ParameterValues* file);

// Those that no node reads (sources of folded ones) are left out; saves memory and nothing else.
void KeepReadParameters(const Graph& graph, ParameterValues* values);

}  // namespace hone::graph
