#include "library/table_info.h"

#include <cstddef>

#include "library/runtime/net_runtime.h"
#include "semantics/semantics.h"

namespace hone::library {
namespace {

// The structs are written field by field; these are the layouts that the code below writes (64-bit pointers).
static_assert(sizeof(HoneNetTensor) == 40 && offsetof(HoneNetTensor, shape) == 24);
static_assert(sizeof(HoneNetLayer) == 24);
static_assert(sizeof(HoneNetInfo) == 72 && offsetof(HoneNetInfo, inputs) == 40 && offsetof(HoneNetInfo, layers) == 64);

uint64_t AddTensors(const std::vector<NamedType>& tensors, codegen::DataObjectWriter* out) {
  std::vector<uint64_t> names, shapes;
  const uint64_t type_name = out->String("f32");
  for (const auto& [name, type] : tensors) {
    names.push_back(out->String(name));
    out->AlignTo(8);
    shapes.push_back(out->size());
    for (int64_t extent : type.shape) out->Add64(static_cast<uint64_t>(extent));
  }
  out->AlignTo(8);
  const uint64_t at = out->size();
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorType& type = tensors[i].second;
    out->AddPointer(names[i]);
    out->AddPointer(type_name);
    out->Add32(static_cast<uint32_t>(type.shape.size()));
    out->Add32(64);
    out->AddPointer(shapes[i]);
    out->Add64(static_cast<uint64_t>(type.Elements() * type.type.bytes()));
  }
  return at;
}

uint64_t AddLayers(const NetworkPlan& plan, codegen::DataObjectWriter* out) {
  std::vector<uint64_t> names, workloads;
  for (const PlannedNode& node : plan.nodes) {
    names.push_back(out->String(node.name));
    workloads.push_back(out->String(node.workload.Text()));
  }
  out->AlignTo(8);
  const uint64_t at = out->size();
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    out->AddPointer(names[i]);
    out->AddPointer(workloads[i]);
    out->AddDouble(semantics::Flop(plan.nodes[i].workload));
  }
  return at;
}

}  // namespace

std::vector<NamedType> InputsOf(const graph::Graph& graph) {
  std::vector<NamedType> inputs;
  for (const graph::GraphInput& input : graph.inputs) inputs.emplace_back(input.name, input.type);
  return inputs;
}

std::vector<NamedType> OutputsOf(const graph::Graph& graph) {
  std::vector<NamedType> outputs;
  for (const std::string& output : graph.outputs) outputs.emplace_back(output, graph.FindNode(output)->output);
  return outputs;
}

TableInfo::TableInfo(const graph::Graph& graph, const Target& target, const NetworkPlan& plan, const ParamsFile& params,
                     codegen::DataObjectWriter* out)
    : threads_(target.threads),
      inputs_(static_cast<uint32_t>(graph.inputs.size())),
      outputs_(static_cast<uint32_t>(graph.outputs.size())),
      layers_(static_cast<uint32_t>(plan.nodes.size())),
      inputs_at_(AddTensors(InputsOf(graph), out)),
      outputs_at_(AddTensors(OutputsOf(graph), out)),
      layers_at_(AddLayers(plan, out)),
      network_at_(out->String(graph.name)),
      target_at_(out->String(target.Text())),
      digest_at_(out->String(params.DigestHex())),
      digest_(params.digest),
      params_bytes_(params.bytes.size()) {}

void TableInfo::Add(codegen::DataObjectWriter* out) const {
  out->Add32(HONE_NET_ABI_VERSION);
  out->Add32(static_cast<uint32_t>(threads_));
  out->AddPointer(network_at_);
  out->AddPointer(target_at_);
  out->AddPointer(digest_at_);
  out->Add32(inputs_);
  out->Add32(outputs_);
  out->AddPointer(inputs_at_);
  out->AddPointer(outputs_at_);
  out->Add32(layers_);
  out->Add32(0);
  out->AddPointer(layers_at_);
  out->AddBytes(digest_);
  out->Add64(params_bytes_);
}

}  // namespace hone::library
