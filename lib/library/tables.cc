#include "library/tables.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "library/cpu_features.h"
#include "library/elf_object.h"
#include "library/runtime/net_runtime.h"

namespace hone::library {
namespace {

// The structs are written field by field; these are the layouts that the code below writes (64-bit pointers).
static_assert(sizeof(HoneNetTensor) == 40 && offsetof(HoneNetTensor, shape) == 24);
static_assert(sizeof(HoneNetLayer) == 24 && sizeof(HoneNetArg) == 16 && sizeof(HoneNetNode) == 24);
static_assert(sizeof(HoneNetFeature) == 24 && offsetof(HoneNetFeature, state) == 16);
static_assert(sizeof(HoneNetInfo) == 72 && offsetof(HoneNetInfo, inputs) == 40 && offsetof(HoneNetInfo, layers) == 64);
static_assert(sizeof(HoneNetTable) == 144 && offsetof(HoneNetTable, params_bytes) == 88 &&
              offsetof(HoneNetTable, nodes) == 120);

uint64_t RoundUp(int64_t bytes) { return (static_cast<uint64_t>(bytes) + 63) / 64 * 64; }

class TableMaker {
 public:
  TableMaker(const graph::Graph& graph, const Target& target, const NetworkPlan& plan,
             const std::vector<NetworkKernel>& kernels, const Constants& constants, const ParamsFile& params)
      : graph_(graph), target_(target), plan_(plan), kernels_(kernels), constants_(constants), params_(params) {}

  Result<NetworkTables> Run() {
    std::vector<std::pair<std::string, TensorType>> inputs, outputs;
    for (const graph::GraphInput& input : graph_.inputs) inputs.emplace_back(input.name, input.type);
    for (const std::string& output : graph_.outputs) outputs.emplace_back(output, graph_.FindNode(output)->output);
    const uint64_t inputs_at = Tensors(inputs), outputs_at = Tensors(outputs);
    const uint64_t layers_at = Layers(), nodes_at = Nodes(), features_at = Features();
    const uint64_t network = out_.String(graph_.name), target = out_.String(target_.Text()),
                   digest = out_.String(params_.DigestHex());

    int64_t workspace = 0, scratch = 0;
    for (const NetworkKernel& kernel : kernels_) {
      workspace = std::max(workspace, kernel.compiled.kernel.workspace_bytes);
      scratch = std::max(scratch, kernel.compiled.kernel.scratch_bytes);
    }
    out_.AlignTo(64);
    const uint64_t at = out_.size();
    out_.Add32(HONE_NET_ABI_VERSION);
    out_.Add32(static_cast<uint32_t>(target_.threads));
    out_.AddPointer(network);
    out_.AddPointer(target);
    out_.AddPointer(digest);
    out_.Add32(static_cast<uint32_t>(inputs.size()));
    out_.Add32(static_cast<uint32_t>(outputs.size()));
    out_.AddPointer(inputs_at);
    out_.AddPointer(outputs_at);
    out_.Add32(static_cast<uint32_t>(plan_.nodes.size()));
    out_.Add32(0);
    out_.AddPointer(layers_at);
    out_.AddBytes(params_.digest);
    out_.Add64(params_.bytes.size());
    out_.Add64(static_cast<uint64_t>(plan_.arena_bytes));
    out_.Add64(static_cast<uint64_t>(workspace));
    out_.Add64(static_cast<uint64_t>(scratch));
    out_.AddPointer(nodes_at);
    out_.AddPointer(features_at);
    out_.Add64(CheckedFeatures(target_).size());

    NetworkTables tables;
    tables.workspace_bytes = static_cast<int64_t>(RoundUp(plan_.arena_bytes) + RoundUp(workspace));
    for (const auto& [name, type] : inputs)
      tables.workspace_bytes += static_cast<int64_t>(RoundUp(type.Elements() * type.type.bytes()));
    for (const auto& [name, type] : outputs)
      tables.workspace_bytes += static_cast<int64_t>(RoundUp(type.Elements() * type.type.bytes()));
    HONE_ASSIGN_OR_RETURN(tables.object, out_.Finish("hone_net_table", at, target_.triple));
    return tables;
  }

 private:
  uint64_t Tensors(const std::vector<std::pair<std::string, TensorType>>& tensors) {
    std::vector<uint64_t> names, shapes;
    const uint64_t type_name = out_.String("f32");
    for (const auto& [name, type] : tensors) {
      names.push_back(out_.String(name));
      out_.AlignTo(8);
      shapes.push_back(out_.size());
      for (int64_t extent : type.shape) out_.Add64(static_cast<uint64_t>(extent));
    }
    out_.AlignTo(8);
    const uint64_t at = out_.size();
    for (size_t i = 0; i < tensors.size(); ++i) {
      const TensorType& type = tensors[i].second;
      out_.AddPointer(names[i]);
      out_.AddPointer(type_name);
      out_.Add32(static_cast<uint32_t>(type.shape.size()));
      out_.Add32(64);
      out_.AddPointer(shapes[i]);
      out_.Add64(static_cast<uint64_t>(type.Elements() * type.type.bytes()));
    }
    return at;
  }

  uint64_t Layers() {
    std::vector<uint64_t> names, workloads;
    for (const PlannedNode& node : plan_.nodes) {
      names.push_back(out_.String(node.name));
      workloads.push_back(out_.String(node.workload.Text()));
    }
    out_.AlignTo(8);
    const uint64_t at = out_.size();
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      out_.AddPointer(names[i]);
      out_.AddPointer(workloads[i]);
      out_.AddDouble(plan_.nodes[i].op->Flop(plan_.nodes[i].workload));
    }
    return at;
  }

  void Arg(const PlannedNode& node, const NodeArg& arg) {
    if (arg.constant) {
      out_.Add32(HONE_NET_PARAMS);
      out_.Add32(0);
      out_.Add64(params_.offsets[arg.blob]);
      return;
    }
    const PlannedOperand& operand = node.operands[arg.operand];
    const bool arena = operand.place == Place::kArena;
    out_.Add32(arena ? HONE_NET_ARENA : operand.place == Place::kInput ? HONE_NET_INPUT : HONE_NET_OUTPUT);
    out_.Add32(arena ? 0 : static_cast<uint32_t>(operand.index));
    out_.Add64(arena ? static_cast<uint64_t>(operand.offset) : 0);
  }

  uint64_t Nodes() {
    out_.AlignTo(8);
    std::vector<uint64_t> args;
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      args.push_back(out_.size());
      for (const NodeArg& arg : constants_.args[i]) Arg(plan_.nodes[i], arg);
    }
    const uint64_t at = out_.size();
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      out_.AddSymbolPointer(kernels_[static_cast<size_t>(plan_.nodes[i].kernel)].compiled.kernel.symbol);
      out_.AddPointer(args[i]);
      out_.Add64(constants_.args[i].size());
    }
    return at;
  }

  uint64_t Features() {
    out_.AlignTo(8);
    const uint64_t at = out_.size();
    for (const std::string& name : CheckedFeatures(target_)) {
      const HoneNetFeature* feature = FindCpuFeature(name);
      out_.Add32(feature->leaf);
      out_.Add32(feature->subleaf);
      out_.Add32(feature->reg);
      out_.Add32(feature->bit);
      out_.Add64(feature->state);
    }
    return at;
  }

  const graph::Graph& graph_;
  const Target& target_;
  const NetworkPlan& plan_;
  const std::vector<NetworkKernel>& kernels_;
  const Constants& constants_;
  const ParamsFile& params_;
  DataObjectWriter out_;
};

}  // namespace

std::vector<std::string> CheckedFeatures(const Target& target) {
  std::vector<std::string> features;
  if (!StartsWith(target.triple, "x86_64")) return features;
  for (const std::string& name : target.features) {
    if (FindCpuFeature(name) != nullptr) features.push_back(name);
  }
  return features;
}

Result<NetworkTables> MakeTables(const graph::Graph& graph, const Target& target, const NetworkPlan& plan,
                                 const std::vector<NetworkKernel>& kernels, const Constants& constants,
                                 const ParamsFile& params) {
  return TableMaker(graph, target, plan, kernels, constants, params).Run();
}

}  // namespace hone::library
