#include "graph/network_builder.h"

#include "base/check.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

// One number for each of `axes` axes.
std::vector<int64_t> PerAxis(const std::vector<int64_t>& given, size_t axes) {
  HONE_CHECK(given.size() == 1 || given.size() == axes);
  return given.size() == axes ? given : std::vector<int64_t>(axes, given[0]);
}

// Adds stride and padding as attributes, except defaults.
void AddWindow(const WindowShape& window, size_t axes, std::vector<Attribute>* attributes) {
  const auto stride = PerAxis(window.stride, axes);
  if (stride != std::vector<int64_t>(axes, 1)) attributes->push_back({"stride", stride, 'x', ""});
  auto pad = PerAxis(window.pad, axes);
  if (pad == std::vector<int64_t>(axes, 0)) return;
  const auto same = pad;
  pad.insert(pad.end(), same.begin(), same.end());  // before each axis, then behind each
  attributes->push_back({"pad", pad, ',', ""});
}

Initialiser UniformIn(double low, double high) { return {.kind = InitKind::kUniform, .low = low, .high = high}; }

Initialiser He(int64_t fan_in) { return {.kind = InitKind::kHe, .fan_in = fan_in}; }

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
  auto output = semantics::InferOutput(workload);
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

std::string NetworkBuilder::Conv(const std::string& name, const std::string& data, int64_t channels,
                                 const WindowShape& window, const ConvOptions& options) {
  const TensorType type = TypeOf(data);
  const size_t axes = type.shape.size() - 2;
  TensorType weight{type.type, {channels, type.shape[1] / options.groups}};
  int64_t fan_in = weight.shape[1];
  for (int64_t k : PerAxis(window.kernel, axes)) {
    weight.shape.push_back(k);
    fan_in *= k;
  }
  Workload workload{axes == 2 ? "conv2d" : "conv3d", {type, weight}, {}, {}};
  AddWindow(window, axes, &workload.attributes);
  if (options.groups != 1) workload.attributes.push_back({"groups", {options.groups}, ',', ""});
  Parameter(name + ".weight", weight.shape, He(fan_in));
  std::vector<std::string> inputs = {data, name + ".weight"};
  if (options.bias) {
    Parameter(name + ".bias", {channels}, UniformIn(-0.1, 0.1));
    workload.epilogue.push_back({EpilogueKind::kBias, 0, 0});
    inputs.push_back(name + ".bias");
  }
  return Append(name, std::move(workload), std::move(inputs));
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

std::string NetworkBuilder::Add(const std::string& name, const std::string& a, const std::string& b) {
  return Op(name, "add", {a, b});
}

std::string NetworkBuilder::Concat(const std::string& name, const std::vector<std::string>& parts) {
  return Op(name, "concat", parts);
}

std::string NetworkBuilder::Pool(const std::string& op, const std::string& name, const std::string& data,
                                 const WindowShape& window, const PoolOptions& options) {
  const TensorType type = TypeOf(data);
  const size_t axes = type.shape.size() - 2;
  std::vector<Attribute> attributes = {{"kernel", PerAxis(window.kernel, axes), 'x', ""}};
  AddWindow(window, axes, &attributes);
  if (options.ceil_mode) attributes.push_back({"ceil_mode", {1}, ',', ""});
  if (options.count_include_pad) attributes.push_back({"count_include_pad", {1}, ',', ""});
  return Append(name, {op + (axes == 2 ? "2d" : "3d"), {type}, std::move(attributes), {}}, {data});
}

std::string NetworkBuilder::Dense(const std::string& name, const std::string& data, int64_t units) {
  const TensorType type = TypeOf(data);
  const TensorType weight{type.type, {units, type.shape[1]}};
  Parameter(name + ".weight", weight.shape, He(type.shape[1]));
  Parameter(name + ".bias", {units}, UniformIn(-0.1, 0.1));
  return Append(name, {"dense", {type, weight}, {}, {{EpilogueKind::kBias, 0, 0}}},
                {data, name + ".weight", name + ".bias"});
}

std::string NetworkBuilder::Op(const std::string& name, const std::string& op, const std::vector<std::string>& inputs,
                               std::vector<Attribute> attributes) {
  Workload workload{op, {}, std::move(attributes), {}};
  for (const std::string& input : inputs) workload.inputs.push_back(TypeOf(input));
  return Append(name, std::move(workload), inputs);
}

Graph NetworkBuilder::Finish(std::vector<std::string> outputs) {
  graph_.outputs = std::move(outputs);
  HONE_CHECK(CheckGraph(&graph_).ok());
  return std::move(graph_);
}

}  // namespace hone::graph
