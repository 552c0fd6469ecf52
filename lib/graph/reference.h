// Reference execution: what a graph means. Every operator straight from its definition, in double precision, on logical
// row-major tensors; independent of op/, te and all kernels. Works on a graph before, between and after the passes.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/parameters.h"

namespace hone::graph {

using TensorValues = std::map<std::string, std::vector<double>>;

// The output tensors by name. `inputs`: one an input of the graph, by name. `threads`: at least 1; the result does not
// depend on it. kInvalid for a missing input or one of the wrong size; kInterrupted once Interrupted().
Result<TensorValues> RunReference(const Graph& graph, const ParameterValues& parameters,
                                  const std::map<std::string, std::vector<float>>& inputs, int threads);

// One node; a chain is its members in turn. `operands` as Node::inputs.
std::vector<double> RunReferenceNode(const Node& node, const std::vector<const std::vector<double>*>& operands,
                                     int threads);

}  // namespace hone::graph
