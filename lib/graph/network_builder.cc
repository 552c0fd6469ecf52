#include "base/check.h"
#include "graph/networks.h"
#include "graph/shape.h"

namespace hone::graph {
namespace {

Attribute Pair(const std::string& name, int64_t value) { return {name, {value, value}, 'x', ""}; }
Attribute Pad(int64_t pad) { return {"pad", {pad, pad, pad, pad}, ',', ""}; }

Initialiser UniformIn(double low, double high) {
  Initialiser init;
  init.kind = InitKind::kUniform;
  init.low = low, init.high = high;
  return init;
}

Initialiser He(int64_t fan_in) {
  Initialiser init;
  init.kind = InitKind::kHe;
  init.fan_in = fan_in;
  return init;
}

}  // namespace

NetworkBuilder::NetworkBuilder(std::string name, uint64_t seed) {
  graph_.name = std::move(name);
  graph_.seed = seed;
}

const TensorType& NetworkBuilder::TypeOf(const std::string& tensor) const {
  const TensorType* type = graph_.FindType(tensor);
  HONE_CHECK(type != nullptr);
  return *type;
}

std::string NetworkBuilder::Append(const std::string& name, Workload workload, std::vector<std::string> inputs) {
  auto output = InferOutput(workload);
  HONE_CHECK(output.ok());
  graph_.nodes.push_back({name, std::move(workload), std::move(inputs), *output});
  return name;
}

std::string NetworkBuilder::Parameter(const std::string& name, std::vector<int64_t> shape, Initialiser init) {
  graph_.parameters.push_back({name, {DType::Float(32), std::move(shape)}, std::move(init)});
  return name;
}

std::string NetworkBuilder::Input(const std::string& name, std::vector<int64_t> shape) {
  graph_.inputs.push_back({name, {DType::Float(32), std::move(shape)}});
  return name;
}

std::string NetworkBuilder::Conv2d(const std::string& name, const std::string& data, int64_t channels, int64_t kernel,
                                   int64_t stride, int64_t pad) {
  const TensorType type = TypeOf(data);
  const TensorType weight{type.type, {channels, type.shape[1], kernel, kernel}};
  std::vector<Attribute> attributes;
  if (stride != 1) attributes.push_back(Pair("stride", stride));
  if (pad != 0) attributes.push_back(Pad(pad));
  Parameter(name + ".weight", weight.shape, He(type.shape[1] * kernel * kernel));
  return Append(name, {"conv2d", {type, weight}, std::move(attributes), {}}, {data, name + ".weight"});
}

std::string NetworkBuilder::BatchNorm(const std::string& name, const std::string& data, double gamma_low,
                                      double gamma_high) {
  const TensorType type = TypeOf(data);
  const TensorType channel{type.type, {type.shape[1]}};
  Parameter(name + ".gamma", channel.shape, UniformIn(gamma_low, gamma_high));
  Parameter(name + ".beta", channel.shape, UniformIn(-0.2, 0.2));
  Parameter(name + ".mean", channel.shape, UniformIn(-0.2, 0.2));
  Parameter(name + ".variance", channel.shape, UniformIn(0.5, 1.5));
  return Append(name, {"batch_norm", {type, channel, channel, channel, channel}, {}, {}},
                {data, name + ".gamma", name + ".beta", name + ".mean", name + ".variance"});
}

std::string NetworkBuilder::Relu(const std::string& name, const std::string& data) { return Unary(name, "relu", data); }

std::string NetworkBuilder::Add(const std::string& name, const std::string& a, const std::string& b) {
  return Append(name, {"add", {TypeOf(a), TypeOf(b)}, {}, {}}, {a, b});
}

std::string NetworkBuilder::MaxPool(const std::string& name, const std::string& data, int64_t kernel, int64_t stride,
                                    int64_t pad) {
  std::vector<Attribute> attributes = {Pair("kernel", kernel)};
  if (stride != 1) attributes.push_back(Pair("stride", stride));
  if (pad != 0) attributes.push_back(Pad(pad));
  return Append(name, {"max_pool2d", {TypeOf(data)}, std::move(attributes), {}}, {data});
}

std::string NetworkBuilder::Dense(const std::string& name, const std::string& data, int64_t units) {
  const TensorType type = TypeOf(data);
  const TensorType weight{type.type, {units, type.shape[1]}};
  Parameter(name + ".weight", weight.shape, He(type.shape[1]));
  Parameter(name + ".bias", {units}, UniformIn(-0.1, 0.1));
  return Append(name, {"dense", {type, weight}, {}, {{EpilogueKind::kBias, 0, 0}}},
                {data, name + ".weight", name + ".bias"});
}

std::string NetworkBuilder::Unary(const std::string& name, const std::string& op, const std::string& data) {
  return Append(name, {op, {TypeOf(data)}, {}, {}}, {data});
}

Graph NetworkBuilder::Finish(std::vector<std::string> outputs) {
  graph_.outputs = std::move(outputs);
  HONE_CHECK(CheckGraph(&graph_).ok());
  return std::move(graph_);
}

}  // namespace hone::graph
