// Loads networks and values of parameters and checks their memory, for hone-extract, -quantise, -build, -confirm and
// -bench.
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

struct NetworkSource {
  std::string network;              // a built-in one's name, the path of a graph (*.json) or model (*.onnx), or one
                                    // workload: "dense(f32[1,16], f32[4,16]) + relu"
  std::vector<std::string> inputs;  // for a model: NAME=1,3,224,224, the shapes of its inputs
  std::string parameter_file;       // with values of a graph's parameters of kind `file`; may be empty
  int64_t batch = 1;                // for a built-in network; a graph file has its own
};

struct Network {
  graph::Graph graph;                            // as read, before any pass
  std::optional<graph::ParameterValues> values;  // of its parameters of kind `file`
  std::vector<std::string> reads;                // other files that were read, from the model's folder
};

// The graph names the plugins that are loaded.
Result<Network> LoadNetwork(const NetworkSource& source);

// Returns kUnsupported if the values of the graph's parameters do not fit into the available memory.
Status CheckMemory(const graph::Graph& graph);

// Whether the network or one of its files is at fault. Files that stand for a failed network (--keep-going) must not
// record a full disk or an interrupt.
bool IsNetworkFault(const Status& status);

}  // namespace hone::command
