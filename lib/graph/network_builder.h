// NetworkBuilder: builds graphs node by node. Each call appends a node with seeded parameters and returns its output's
// name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace hone::graph {

// Per-axis lists of a window have one number for all axes, or one per axis, outermost first. `pad` applies to both
// sides.
struct WindowShape {
  std::vector<int64_t> kernel = {1};
  std::vector<int64_t> stride = {1};
  std::vector<int64_t> pad = {0};
};

struct ConvOptions {
  int64_t groups = 1;
  bool bias = false;
};

struct PoolOptions {
  bool ceil_mode = false;
  bool count_include_pad = false;  // for average pooling
};

class NetworkBuilder {
 public:
  NetworkBuilder(std::string name, uint64_t seed);

  std::string Input(const std::string& name, std::vector<int64_t> shape);
  // conv2d or conv3d, depending on the rank of `data`.
  std::string Conv(const std::string& name, const std::string& data, int64_t channels, const WindowShape& window,
                   const ConvOptions& options = {});
  // The scale is uniform in gamma_low..gamma_high; small values keep the branches of a residual network from growing
  // without bound.
  std::string BatchNorm(const std::string& name, const std::string& data, double gamma_low = 0.8,
                        double gamma_high = 1.2);
  // A convolution without bias, and its norm, `name`.bn.
  std::string ConvBn(const std::string& name, const std::string& data, int64_t channels, const WindowShape& window,
                     int64_t groups = 1, double gamma_low = 0.8, double gamma_high = 1.2) {
    return BatchNorm(name + ".bn", Conv(name, data, channels, window, {.groups = groups}), gamma_low, gamma_high);
  }
  std::string Relu(const std::string& name, const std::string& data) { return Unary(name, "relu", data); }
  std::string Add(const std::string& name, const std::string& a, const std::string& b);
  std::string Concat(const std::string& name, const std::vector<std::string>& parts);  // along the channels
  std::string MaxPool(const std::string& name, const std::string& data, const WindowShape& window,
                      const PoolOptions& options = {}) {
    return Pool("max_pool", name, data, window, options);
  }
  std::string AvgPool(const std::string& name, const std::string& data, const WindowShape& window,
                      const PoolOptions& options = {}) {
    return Pool("avg_pool", name, data, window, options);
  }
  std::string Dense(const std::string& name, const std::string& data, int64_t units);  // with bias
  // An operator with one input and no attributes: "global_avg_pool", "flatten", "dropout", ...
  std::string Unary(const std::string& name, const std::string& op, const std::string& data) {
    return Op(name, op, {data});
  }
  // Any other operator without an epilogue. Its inputs may be parameters.
  std::string Op(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
                 std::vector<Attribute> attributes = {});
  std::string Parameter(const std::string& name, std::vector<int64_t> shape, Initialiser init);

  int64_t Channels(const std::string& tensor) const { return TypeOf(tensor).shape[1]; }

  // Finishes the graph. REQUIRES: the calls were consistent.
  Graph Finish(std::vector<std::string> outputs);

 private:
  const TensorType& TypeOf(const std::string& tensor) const;
  std::string Append(const std::string& name, Workload workload, std::vector<std::string> inputs);
  std::string Pool(const std::string& op, const std::string& name, const std::string& data, const WindowShape& window,
                   const PoolOptions& options);
  Graph graph_;
};

}  // namespace hone::graph
