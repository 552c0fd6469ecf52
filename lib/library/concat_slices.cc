#include "library/concat_slices.h"

#include <set>

#include "library/backend.h"
#include "op/operator.h"
#include "semantics/semantics.h"

namespace hone::library {
namespace {

class Finder {
 public:
  Finder(const graph::Graph& graph, const Target& target) : graph_(graph), target_(target) {
    for (const graph::Node& node : graph.nodes) computed_.insert(node.name);
    for (const std::string& output : graph.outputs) computed_.erase(output);
  }

  ConcatSlices Run() {
    const auto backend = FindBackend(target_);
    if (!backend.ok()) return {};
    alignment_ = (*backend)->slice_alignment();
    for (const graph::Node& node : graph_.nodes) {
      if (!node.workload.chain() && semantics::DefinitionOf(node.workload).concatenates && computed_.count(node.name))
        Try(node);
    }
    return std::move(slices_);
  }

 private:
  void Try(const graph::Node& node) {
    const Result<const op::Operator*> op = op::FindOperator(node.workload);
    if (!op.ok() || !node.workload.epilogue.empty()) return;
    const std::vector<Operand> operands = (*op)->Operands(node.workload, target_);
    const Operand& out = operands.back();
    if (operands.size() != node.inputs.size() + 1) return;
    const int64_t axis = node.workload.Numbers("axis", {1})[0];
    for (int64_t i = 0; i < axis; ++i) {
      if (out.logical.shape[static_cast<size_t>(i)] != 1) return;
    }
    std::map<std::string, Slice> parts;
    int64_t offset = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Operand& part = operands[i];
      const bool last = i + 1 == node.inputs.size();
      if (part.layout != out.layout || part.role != OperandRole::kData) return;
      // The zeros behind a ragged part would lie between two parts.
      if (part.layout == Layout::kBlocked && !last && part.logical.shape[1] % target_.ChannelBlock() != 0) return;
      if (offset % alignment_ != 0) return;
      if (!computed_.count(node.inputs[i]) || slices_.parts.count(node.inputs[i])) return;
      if (!parts.emplace(node.inputs[i], Slice{node.name, offset}).second) return;
      offset += part.PhysicalBytes();
    }
    if (offset != out.PhysicalBytes()) return;
    slices_.parts.merge(parts);
    slices_.wholes[node.name] = offset;
  }

  const graph::Graph& graph_;
  const Target& target_;
  int64_t alignment_ = 0;           // of a part within its whole
  std::set<std::string> computed_;  // tensors that nodes compute for nodes
  ConcatSlices slices_;
};

}  // namespace

Slice ConcatSlices::Find(const std::string& tensor) const {
  Slice at{tensor, 0};
  for (auto part = parts.find(tensor); part != parts.end(); part = parts.find(at.whole)) {
    at.offset += part->second.offset;
    at.whole = part->second.whole;
  }
  return at;
}

ConcatSlices FindConcatSlices(const graph::Graph& graph, const Target& target) { return Finder(graph, target).Run(); }

}  // namespace hone::library
