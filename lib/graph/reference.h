// Reference execution: defines what a graph means, node by node as semantics/ defines it, in double precision. Works on
// a graph before, between and after the passes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace hone::graph {

using TensorValues = std::map<std::string, std::vector<double>>;

// The output tensors by name. `inputs` has one value per input of the graph, by name. The result does not depend on
// `threads` (at least 1). Returns kInvalid for a missing input or a wrong type; kInterrupted once Interrupted().
Result<TensorValues> RunReference(const Graph& graph, const ParameterValues& parameters,
                                  const std::map<std::string, TensorData>& inputs, int threads);

}  // namespace hone::graph
