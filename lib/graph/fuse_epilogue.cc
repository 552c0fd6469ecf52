#include <algorithm>
#include <optional>

#include "graph/normalise.h"
#include "semantics/epilogue.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

using semantics::IsActivation;

bool TakesEpilogue(const Node& node) { return !node.workload.chain() && semantics::DefinitionOf(node.workload).layer; }

// The operation of the node, if it is a single one that can be a layer's epilogue.
std::optional<EpilogueOp> AsEpilogue(const Node& node) {
  return node.workload.chain() ? std::nullopt : semantics::AsEpilogue(node.workload);
}

bool HasActivation(const Workload& w) {
  return std::any_of(w.epilogue.begin(), w.epilogue.end(), IsActivation);
}

class Fuser {
 public:
  explicit Fuser(Graph* graph) : graph_(graph), reads_(CountReads(*graph)) {}

  bool Run() {
    bool changed = false;
    // The index does not advance after a node took another's place: its own reader may follow.
    for (size_t i = 0; i < graph_->nodes.size(); ++i) {
      if (TryActivation(i) || TryAdd(i)) {
        changed = true;
        --i;  // the producer before it was removed: the fused node is at i - 1 now
      }
    }
    return changed;
  }

 private:
  // The index of the anchor that computes `tensor`, if `tensor` has a single reader.
  std::optional<size_t> SoleAnchor(const std::string& tensor, size_t before) const {
    auto reads = reads_.find(tensor);
    if (reads == reads_.end() || reads->second != 1) return std::nullopt;
    for (size_t i = before; i-- > 0;) {
      if (graph_->nodes[i].name != tensor) continue;
      if (!TakesEpilogue(graph_->nodes[i]) || HasActivation(graph_->nodes[i].workload)) return std::nullopt;
      return i;
    }
    return std::nullopt;
  }

  // Changes the anchor at `from` to compute the node at `to` as well, and moves it there.
  void Replace(size_t from, size_t to, const EpilogueOp& op, const std::string& operand) {
    Node anchor = std::move(graph_->nodes[from]);
    anchor.workload.epilogue.push_back(op);
    if (!operand.empty()) anchor.inputs.push_back(operand);
    anchor.name = graph_->nodes[to].name;
    graph_->nodes[to] = std::move(anchor);
    graph_->nodes.erase(graph_->nodes.begin() + static_cast<ptrdiff_t>(from));
  }

  bool TryActivation(size_t i) {
    const auto activation = AsEpilogue(graph_->nodes[i]);
    if (!activation || !IsActivation(*activation)) return false;
    const auto anchor = SoleAnchor(graph_->nodes[i].inputs[0], i);
    if (!anchor) return false;
    Replace(*anchor, i, *activation, "");
    return true;
  }

  bool TryAdd(size_t i) {
    const Node& add = graph_->nodes[i];
    const auto op = AsEpilogue(add);
    if (!op || op->kind != EpilogueKind::kAdd || add.inputs.size() != 2 || add.inputs[0] == add.inputs[1]) return false;
    std::optional<size_t> best;
    std::string other;
    for (int side = 0; side < 2; ++side) {
      const auto anchor = SoleAnchor(add.inputs[side], i);
      if (!anchor || graph_->nodes[*anchor].workload.HasEpilogue(EpilogueKind::kAdd)) continue;
      if (best && *best > *anchor) continue;
      best = anchor;
      other = add.inputs[1 - side];
    }
    if (!best) return false;
    Replace(*best, i, {EpilogueKind::kAdd, 0, 0}, other);
    return true;
  }

  Graph* graph_;
  const std::map<std::string, int> reads_;  // fusing does not change the counts of remaining tensors
};

}  // namespace

bool FuseEpilogue(Graph* graph) { return Fuser(graph).Run(); }

}  // namespace hone::graph
