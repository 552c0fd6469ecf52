#include "command/common/load_graph.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/file.h"
#include "base/text.h"
#include "graph/networks.h"
#include "onnx/import.h"
#include "op/operator.h"
#include "pipeline/pipeline_file.h"
#include "plugin/plugin.h"
#include "semantics/quantise.h"
#include "semantics/semantics.h"

namespace hone::command {
namespace {

// He initialisation for weights keeps values at the scale of the input. A bias has no fan-in. Integers cover their
// type; the limits of a requant or shift cover most of it.
graph::Initialiser InitOf(const Operand& operand) {
  using enum graph::InitKind;
  const std::vector<int64_t>& shape = operand.logical.shape;
  const DType type = operand.logical.type;
  const double low = type.bits == 8 ? semantics::LimitsOf(type).first : -1000;
  if (EndsWith(operand.name, "multiplier")) return {.kind = kUniform, .low = 0x1p-12, .high = 0x1p-8};
  if (EndsWith(operand.name, "shift")) return {.kind = kUniform, .low = 8, .high = 12};
  if (EndsWith(operand.name, "limits")) {
    if (shape[0] == 2) return {.kind = kValues, .values = {low + 1, low + 250}};
    return {.kind = kValues, .values = {low + 100, low + 1, low + 250}};
  }
  if (!type.is_float()) return {.kind = kUniform, .low = low, .high = low == 0 ? 255.0 : -low};
  if (shape.size() >= 2) return {.kind = kHe, .fan_in = operand.logical.Elements() / shape[0]};
  return {.kind = kUniform, .low = -1, .high = 1};
}

// The network of "dense(f32[1,16], f32[4,16]) + relu", for tuning and building that operator by itself. Its data
// operands become the graph's inputs (`data`, `data1`, `residual`), its constant operands parameters with seeded
// values, and its result the output `out`. Returns kInvalid or kUnsupported if the workload cannot be parsed, is
// inconsistent, or has an unknown operator.
Result<graph::Graph> GraphOfWorkload(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(text));
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  graph::Graph graph{.name = workload.OperatorText()};
  graph::Node node{.name = "out", .workload = workload};
  // Logical shapes do not depend on the target.
  for (const Operand& operand : op->Operands(workload, Target())) {
    if (operand.role == OperandRole::kOutput) continue;
    node.inputs.push_back(operand.name);
    if (operand.role == OperandRole::kData) {
      graph.inputs.push_back({operand.name, operand.logical});
      continue;
    }
    graph.parameters.push_back({operand.name, operand.logical, InitOf(operand)});
  }
  for (const Workload& part : workload.Parts()) {
    const bool last = semantics::OutputLayout(part) == Layout::kChannelsLast ||
                      semantics::InputLayout(part, 0) == Layout::kChannelsLast;
    if (last) graph.layout = Layout::kChannelsLast;
  }
  graph.nodes.push_back(std::move(node));
  graph.outputs = {"out"};
  HONE_RETURN_IF_ERROR(graph::CheckGraph(&graph));
  return graph;
}

}  // namespace

Result<std::optional<graph::ParameterValues>> LoadParameterFile(const std::string& path,
                                                                const std::vector<std::string>& inputs) {
  if (path.empty()) return std::optional<graph::ParameterValues>();
  HONE_ASSIGN_OR_RETURN(const onnx::InputShapes shapes, onnx::ParseInputShapes(inputs));
  if (pipeline::IsOnnxFile(path)) {
    HONE_ASSIGN_OR_RETURN(onnx::ImportedModel model, onnx::ReadOnnx(path, shapes));
    return std::optional<graph::ParameterValues>(std::move(model.values));
  }
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  HONE_ASSIGN_OR_RETURN(graph::ParameterValues values, graph::ParseParameterFile(bytes, path));
  return std::optional<graph::ParameterValues>(std::move(values));
}

static Result<Network> ReadNetwork(const NetworkSource& source) {
  Network network;
  if (pipeline::IsOnnxFile(source.network)) {
    HONE_ASSIGN_OR_RETURN(const onnx::InputShapes shapes, onnx::ParseInputShapes(source.inputs));
    HONE_ASSIGN_OR_RETURN(onnx::ImportedModel model, onnx::ReadOnnx(source.network, shapes));
    network.graph = std::move(model.graph);
    network.values = std::move(model.values);
    network.reads = std::move(model.external);
    return network;
  }
  if (pipeline::IsWorkload(source.network)) {
    HONE_ASSIGN_OR_RETURN(network.graph, GraphOfWorkload(source.network));
    return network;
  }
  if (!source.inputs.empty()) {
    return Status::Invalid("--input gives the shapes of an ONNX model's inputs; `" + source.network + "` has its own");
  }
  if (pipeline::IsGraphFile(source.network)) {
    HONE_ASSIGN_OR_RETURN(network.graph, graph::ReadGraph(source.network, plugin::LoadNamed));
  } else {
    HONE_ASSIGN_OR_RETURN(network.graph, graph::BuildNetwork(source.network, source.batch));
  }
  HONE_ASSIGN_OR_RETURN(network.values, LoadParameterFile(source.parameter_file));
  return network;
}

Result<Network> LoadNetwork(const NetworkSource& source) {
  HONE_ASSIGN_OR_RETURN(Network network, ReadNetwork(source));
  std::map<std::string, std::string> digests;
  for (const std::string& file : plugin::LoadedFiles()) {
    HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(file));
    digests[file] = Digest128(bytes).Hex();
  }
  network.graph.plugins.clear();
  for (const auto& [file, digest] : digests) network.graph.plugins.push_back({file, digest});
  return network;
}

Status CheckMemory(const graph::Graph& graph) {
  const Result<std::string> info = ReadFile("/proc/meminfo");
  const std::string key = "MemAvailable:";
  const size_t at = info.ok() ? info->find(key) : std::string::npos;
  if (at == std::string::npos) return Status();  // the kernel does not report it: try
  const double available = std::strtod(info->c_str() + at + key.size(), nullptr) * 1024;
  double bytes = 0;
  for (const graph::Parameter& p : graph.parameters)
    bytes += static_cast<double>(p.type.Elements() * p.type.type.bytes());
  if (bytes <= available) return Status();
  return Status::Unsupported(
      "its parameters take {:.1f} GB, but this machine has {:.1f} GB of memory left; build it on a larger one",
      bytes * 1e-9, available * 1e-9);
}

bool IsNetworkFault(const Status& status) {
  constexpr StatusKind kFaults[] = {StatusKind::kInvalid, StatusKind::kUnsupported, StatusKind::kNotFound,
                                    StatusKind::kCorrupt};
  return std::ranges::find(kFaults, status.kind()) != std::end(kFaults);
}

}  // namespace hone::command
