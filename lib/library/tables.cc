#include "library/tables.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "semantics/semantics.h"

namespace hone::library {
namespace {

using To = codegen::DataObjectWriter::To;
using ToSymbol = codegen::DataObjectWriter::ToSymbol;

// The structs are written field by field; these layouts (64-bit pointers) must match the code below.
static_assert(sizeof(HoneNetTensor) == 40 && offsetof(HoneNetTensor, shape) == 24);
static_assert(sizeof(HoneNetLayer) == 24);
static_assert(sizeof(HoneNetInfo) == 72 && offsetof(HoneNetInfo, inputs) == 40 && offsetof(HoneNetInfo, layers) == 64);
static_assert(sizeof(HoneNetArg) == 16 && sizeof(HoneNetNode) == 24);
static_assert(sizeof(HoneNetFeature) == 24 && offsetof(HoneNetFeature, state) == 16);
static_assert(sizeof(HoneNetTable) == 144 && offsetof(HoneNetTable, params_bytes) == 88 &&
              offsetof(HoneNetTable, nodes) == 120);

uint64_t RoundUp(int64_t bytes) { return (static_cast<uint64_t>(bytes) + 63) / 64 * 64; }

To AddTensors(const std::vector<NamedType>& tensors, codegen::DataObjectWriter* out) {
  std::vector<To> types, names, shapes;
  for (const auto& [name, type] : tensors) {
    types.push_back({out->String(ToString(type.type))});
    names.push_back({out->String(name)});
    out->AlignTo(8);
    shapes.push_back({out->size()});
    for (int64_t extent : type.shape) out->Add(static_cast<uint64_t>(extent));
  }
  out->AlignTo(8);
  const To at{out->size()};
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorType& type = tensors[i].second;
    out->Add(names[i], types[i], static_cast<uint32_t>(type.shape.size()), uint32_t{64}, shapes[i],
             static_cast<uint64_t>(BytesOf(type)));
  }
  return at;
}

To AddLayers(const NetworkPlan& plan, codegen::DataObjectWriter* out) {
  std::vector<To> names, workloads;
  for (const PlannedNode& node : plan.nodes) {
    names.push_back({out->String(node.name)});
    workloads.push_back({out->String(node.workload.Text())});
  }
  out->AlignTo(8);
  const To at{out->size()};
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    out->Add(names[i], workloads[i], semantics::Flop(plan.nodes[i].workload));
  }
  return at;
}

class TableMaker {
 public:
  TableMaker(const graph::Graph& graph, const Target& target, const NetworkPlan& plan,
             const std::vector<NetworkKernel>& kernels, const Constants& constants, const ParamsFile& params)
      : graph_(graph), target_(target), plan_(plan), kernels_(kernels), constants_(constants), params_(params) {}

  Result<NetworkTables> Run() {
    const TableInfo info(graph_, target_, plan_, params_, &out_);
    const To nodes_at = Nodes(), features_at = Features();

    int64_t workspace = 0, scratch = 0;
    for (const NetworkKernel& kernel : kernels_) {
      workspace = std::max(workspace, kernel.compiled.kernel.workspace_bytes);
      scratch = std::max(scratch, kernel.compiled.kernel.scratch_bytes);
    }
    out_.AlignTo(64);
    const uint64_t at = out_.size();
    info.Add(&out_);
    out_.Add(static_cast<uint64_t>(plan_.arena_bytes), static_cast<uint64_t>(workspace), static_cast<uint64_t>(scratch),
             nodes_at, features_at, uint64_t{CheckedFeatures(target_).size()});

    NetworkTables tables{.workspace_bytes = static_cast<int64_t>(RoundUp(plan_.arena_bytes) + RoundUp(workspace))};
    for (const std::vector<NamedType>& ends : {InputsOf(graph_), OutputsOf(graph_)}) {
      for (const auto& [name, type] : ends) tables.workspace_bytes += static_cast<int64_t>(RoundUp(BytesOf(type)));
    }
    HONE_ASSIGN_OR_RETURN(tables.object, out_.Finish("hone_net_table", at, target_.triple));
    return tables;
  }

 private:
  void Arg(const PlannedNode& node, const NodeArg& arg) {
    if (arg.constant) return out_.Add(uint32_t{HONE_NET_PARAMS}, uint32_t{0}, params_.offsets[arg.blob]);
    const PlannedOperand& operand = node.operands[arg.operand];
    if (operand.place == Place::kArena) {
      out_.Add(uint32_t{HONE_NET_ARENA}, uint32_t{0}, static_cast<uint64_t>(operand.offset));
    } else {
      const uint32_t kind = operand.place == Place::kInput ? HONE_NET_INPUT : HONE_NET_OUTPUT;
      out_.Add(kind, static_cast<uint32_t>(operand.index), uint64_t{0});
    }
  }

  To Nodes() {
    out_.AlignTo(8);
    std::vector<To> args;
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      args.push_back({out_.size()});
      for (const NodeArg& arg : constants_.args[i]) Arg(plan_.nodes[i], arg);
    }
    const To at{out_.size()};
    for (size_t i = 0; i < plan_.nodes.size(); ++i) {
      const NetworkKernel& kernel = kernels_[static_cast<size_t>(plan_.nodes[i].kernel)];
      out_.Add(ToSymbol{kernel.compiled.kernel.symbol}, args[i], uint64_t{constants_.args[i].size()});
    }
    return at;
  }

  To Features() {
    out_.AlignTo(8);
    const To at{out_.size()};
    for (const std::string& name : CheckedFeatures(target_)) {
      const HoneNetFeature* f = FindCpuFeature(target_, name);
      out_.Add(f->leaf, f->subleaf, f->reg, f->bit, f->state);
    }
    return at;
  }

  const graph::Graph& graph_;
  const Target& target_;
  const NetworkPlan& plan_;
  const std::vector<NetworkKernel>& kernels_;
  const Constants& constants_;
  const ParamsFile& params_;
  codegen::DataObjectWriter out_;
};

}  // namespace

TableInfo::TableInfo(const graph::Graph& graph, const Target& target, const NetworkPlan& plan, const ParamsFile& params,
                     codegen::DataObjectWriter* out)
    : threads_(static_cast<uint32_t>(target.threads)),
      inputs_(static_cast<uint32_t>(graph.inputs.size())),
      outputs_(static_cast<uint32_t>(graph.outputs.size())),
      layers_(static_cast<uint32_t>(plan.nodes.size())),
      inputs_at_(AddTensors(InputsOf(graph), out)),
      outputs_at_(AddTensors(OutputsOf(graph), out)),
      layers_at_(AddLayers(plan, out)),
      network_at_{out->String(graph.name)},
      target_at_{out->String(target.Text())},
      digest_at_{out->String(params.DigestHex())},
      digest_(params.digest),
      params_bytes_(params.bytes.size()) {}

void TableInfo::Add(codegen::DataObjectWriter* out) const {
  out->Add(uint32_t{HONE_NET_ABI_VERSION}, threads_, network_at_, target_at_, digest_at_, inputs_, outputs_, inputs_at_,
           outputs_at_, layers_, uint32_t{0}, layers_at_, digest_, params_bytes_);
}

std::vector<std::string> CheckedFeatures(const Target& target) {
  std::vector<std::string> features;
  for (const std::string& name : target.features) {
    if (FindCpuFeature(target, name) != nullptr) features.push_back(name);
  }
  return features;
}

Result<NetworkTables> MakeTables(const graph::Graph& graph, const Target& target, const NetworkPlan& plan,
                                 const std::vector<NetworkKernel>& kernels, const Constants& constants,
                                 const ParamsFile& params) {
  return TableMaker(graph, target, plan, kernels, constants, params).Run();
}

}  // namespace hone::library
