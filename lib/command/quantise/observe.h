// A network as a library in this process, with more outputs than it has: the tensors to observe.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "graph/graph.h"
#include "library/network_runner.h"
#include "target/target.h"

namespace hone::command {

class ObservedNetwork {
 public:
  // Builds the network without tuning. `values` are those of all its parameters, of kind kFile. `observed`: nodes.
  static Result<ObservedNetwork> Build(graph::Graph graph, const graph::ParameterValues& values,
                                       const std::vector<std::string>& observed, const Target& target);

  // Runs the network. Returns the observed tensors, the outputs and the inputs by name, plain.
  Result<std::map<std::string, TensorData>> Run(const std::vector<TensorData>& inputs);

 private:
  ObservedNetwork(graph::Graph graph, TempDir dir) : graph_(std::move(graph)), dir_(std::move(dir)) {}

  graph::Graph graph_;
  TempDir dir_;
  library::LibraryFolder folder_;
  std::unique_ptr<library::LoadedNetwork> net_;
  std::unique_ptr<library::NetworkRunner> runner_;
};

}  // namespace hone::command
