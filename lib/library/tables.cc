#include "library/tables.h"

#include <algorithm>
#include <cstddef>

#include "base/text.h"
#include "codegen/elf/data_object.h"
#include "library/cpu_features.h"
#include "library/runtime/net_runtime.h"
#include "library/table_info.h"

namespace hone::library {
namespace {

// The structs are written field by field; these are the layouts that the code below writes (64-bit pointers).
static_assert(sizeof(HoneNetArg) == 16 && sizeof(HoneNetNode) == 24);
static_assert(sizeof(HoneNetFeature) == 24 && offsetof(HoneNetFeature, state) == 16);
static_assert(sizeof(HoneNetTable) == 144 && offsetof(HoneNetTable, params_bytes) == 88 &&
              offsetof(HoneNetTable, nodes) == 120);

uint64_t RoundUp(int64_t bytes) { return (static_cast<uint64_t>(bytes) + 63) / 64 * 64; }

class TableMaker {
 public:
  TableMaker(const graph::Graph& graph, const Target& target, const NetworkPlan& plan,
             const std::vector<NetworkKernel>& kernels, const Constants& constants, const ParamsFile& params)
      : graph_(graph), target_(target), plan_(plan), kernels_(kernels), constants_(constants), params_(params) {}

  Result<NetworkTables> Run() {
    const TableInfo info(graph_, target_, plan_, params_, &out_);
    const uint64_t nodes_at = Nodes(), features_at = Features();

    int64_t workspace = 0, scratch = 0;
    for (const NetworkKernel& kernel : kernels_) {
      workspace = std::max(workspace, kernel.compiled.kernel.workspace_bytes);
      scratch = std::max(scratch, kernel.compiled.kernel.scratch_bytes);
    }
    out_.AlignTo(64);
    const uint64_t at = out_.size();
    info.Add(&out_);
    out_.Add64(static_cast<uint64_t>(plan_.arena_bytes));
    out_.Add64(static_cast<uint64_t>(workspace));
    out_.Add64(static_cast<uint64_t>(scratch));
    out_.AddPointer(nodes_at);
    out_.AddPointer(features_at);
    out_.Add64(CheckedFeatures(target_).size());

    NetworkTables tables;
    tables.workspace_bytes = static_cast<int64_t>(RoundUp(plan_.arena_bytes) + RoundUp(workspace));
    for (const auto& [name, type] : InputsOf(graph_))
      tables.workspace_bytes += static_cast<int64_t>(RoundUp(type.Elements() * type.type.bytes()));
    for (const auto& [name, type] : OutputsOf(graph_))
      tables.workspace_bytes += static_cast<int64_t>(RoundUp(type.Elements() * type.type.bytes()));
    HONE_ASSIGN_OR_RETURN(tables.object, out_.Finish("hone_net_table", at, target_.triple));
    return tables;
  }

 private:
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
  codegen::DataObjectWriter out_;
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
