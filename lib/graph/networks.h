// The built-in networks, as their papers and the usual libraries define them, before any pass: convolution, batch norm,
// activation and addition are nodes of their own. Parameters are seeded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"

namespace hone::graph {

// "resnet-18", "resnet-34", "resnet-50".
std::vector<std::string> NetworkNames();

// kNotFound with a suggestion for an unknown name, kInvalid for a batch below 1 or above 1024.
Result<Graph> BuildNetwork(const std::string& name, int64_t batch);

// Builds graphs node by node: each call appends a node, with its seeded parameters, and returns its output's name.
class NetworkBuilder {
 public:
  NetworkBuilder(std::string name, uint64_t seed);

  std::string Input(const std::string& name, std::vector<int64_t> shape);
  std::string Conv2d(const std::string& name, const std::string& data, int64_t channels, int64_t kernel, int64_t stride,
                     int64_t pad);
  // gamma_low..gamma_high: its scale; small ones keep the branches of a residual network from growing without bound.
  std::string BatchNorm(const std::string& name, const std::string& data, double gamma_low = 0.8,
                        double gamma_high = 1.2);
  std::string Relu(const std::string& name, const std::string& data);
  std::string Add(const std::string& name, const std::string& a, const std::string& b);
  std::string MaxPool(const std::string& name, const std::string& data, int64_t kernel, int64_t stride, int64_t pad);
  std::string Dense(const std::string& name, const std::string& data, int64_t units);  // with bias
  // An operator of one input without attributes: "global_avg_pool", "flatten", "dropout", ...
  std::string Unary(const std::string& name, const std::string& op, const std::string& data);

  // Ends the graph. REQUIRES: the calls made sense.
  Graph Finish(std::vector<std::string> outputs);

 private:
  const TensorType& TypeOf(const std::string& tensor) const;
  std::string Append(const std::string& name, Workload workload, std::vector<std::string> inputs);
  std::string Parameter(const std::string& name, std::vector<int64_t> shape, Initialiser init);
  Graph graph_;
};

}  // namespace hone::graph
