// Loads values of parameters and checks their memory, for hone-extract, -build, -confirm and -bench.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace hone::command {

// The values in a graph's parameter file; nothing if `path` is empty. For an ONNX model (*.onnx): the values that
// importing it with the shapes `inputs` (flags NAME=1,3,224,224) gives the graph's parameters.
Result<std::optional<graph::ParameterValues>> LoadParameterFile(const std::string& path,
                                                                const std::vector<std::string>& inputs = {});

// Returns kUnsupported if the values of the graph's parameters do not fit into the available memory.
Status CheckMemory(const graph::Graph& graph);

}  // namespace hone::command
