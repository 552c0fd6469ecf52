#include <map>
#include <optional>
#include <set>

#include "graph/normalise.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

using semantics::HasLayouts;

// With more channels, a node `block` pays off: blocked kernels reduce over whole vectors.
constexpr int64_t kFewChannels = 16;

class Assigner {
 public:
  explicit Assigner(Graph* graph) : graph_(graph), layout_(graph->layout) {
    for (const GraphInput& input : graph->inputs) {
      inputs_.insert(input.name), names_.insert(input.name);
      if (!HasLayouts(input.type)) continue;
      tensors_[input.name].type = input.type;
      Outside(&tensors_[input.name]) = input.name;
    }
    for (const Node& node : graph->nodes) names_.insert(node.name);
    for (const Parameter& p : graph->parameters) names_.insert(p.name);
  }

  bool Run() {
    for (Node& node : graph_->nodes) Place(std::move(node));
    graph_->nodes = std::move(out_);
    Exit();
    return changed_;
  }

 private:
  // A tensor's names in both layouts, plain and that of the graph; empty for a layout that does not exist yet. In a
  // plain graph, only the first.
  struct Tensor {
    TensorType type;
    std::string plain, inner;
  };

  // The name in the layout of the graph's inputs and outputs.
  std::string& Outside(Tensor* tensor) const {
    return layout_ == Layout::kChannelsLast ? tensor->inner : tensor->plain;
  }

  std::string FreshName(std::string name) {
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  // The tensor in that layout; creates the node that converts it on the first request.
  std::string In(const std::string& name, Layout layout) {
    const bool plain = layout == Layout::kPlain;
    auto found = tensors_.find(name);
    if (found == tensors_.end()) return name;  // of another rank, or a parameter
    Tensor& tensor = found->second;
    std::string& wanted = plain ? tensor.plain : tensor.inner;
    if (wanted.empty()) {
      wanted = FreshName(name + (plain ? ".plain" : InnerSuffix()));
      const std::string& from = plain ? tensor.inner : tensor.plain;
      out_.push_back({wanted, {semantics::TransformName(layout_, plain), {tensor.type}, {}, {}}, {from}, tensor.type});
      changed_ = true;
    }
    return wanted;
  }

  const char* InnerSuffix() const { return layout_ == Layout::kBlocked ? ".blocked" : ".nhwc"; }

  bool HasInner(const std::string& name) const {
    auto found = tensors_.find(name);
    return found != tensors_.end() && !found->second.inner.empty();
  }

  // Whether this convolution over blocks should read its input plain.
  bool WantsPlainInput(const Node& node) const {
    const std::string& input = node.inputs[0];
    if (tensors_.count(input) == 0) return false;
    if (inputs_.count(input) != 0) return true;
    return !HasInner(input) && node.workload.inputs[0].shape[1] <= kFewChannels;
  }

  // Whether an elementwise operator finds its inputs plain.
  bool FindsPlain(const Node& node) const {
    const Workload& w = node.workload;
    if (!HasLayouts(node.output)) return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool same_rank = i >= w.inputs.size() || w.inputs[i].shape.size() == node.output.shape.size();
      if (same_rank && HasInner(node.inputs[i])) return false;
    }
    return true;
  }

  // The layout that the workload should have, if not that of its operator.
  std::optional<Layout> Wanted(const Node& node) const {
    const Workload& w = node.workload;
    if (semantics::StatedLayout(w) || w.chain()) return std::nullopt;
    const bool elementwise = semantics::DefinitionOf(w).elementwise;
    if (elementwise && FindsPlain(node)) return Layout::kPlain;
    if (layout_ == Layout::kBlocked) return std::nullopt;
    const bool blocks = semantics::AcceptsLayout(w, Layout::kBlocked);
    // An operator that cannot be blocked, or that has a plain output, takes the layout of its input.
    const bool follows = !blocks || semantics::DefinitionOf(w).keeps_order;
    if (semantics::AcceptsLayout(w, layout_) && (!follows || HasInner(node.inputs[0]))) return layout_;
    return blocks ? std::optional(Layout::kPlain) : std::nullopt;
  }

  void Place(Node node) {
    Workload& w = node.workload;
    if (const std::optional<Layout> wanted = Wanted(node)) {
      semantics::SetLayout(&w, *wanted);
      changed_ = true;
    } else if (layout_ == Layout::kBlocked && !w.chain() && semantics::MayReadPlain(w) && w.Find("in") == nullptr &&
               WantsPlainInput(node)) {
      semantics::SetReadsPlain(&w, true);
      changed_ = true;
    }
    const Layout out = semantics::OutputLayout(w);
    for (size_t i = 0; i < node.inputs.size(); ++i) {  // operands of an epilogue have the output's layout
      node.inputs[i] = In(node.inputs[i], i < w.inputs.size() ? semantics::InputLayout(w, i) : out);
    }
    if (HasLayouts(node.output)) {
      tensors_[node.name] = {node.output, out == Layout::kPlain ? node.name : "",
                             out == Layout::kPlain ? "" : node.name};
    }
    out_.push_back(std::move(node));
  }

  // The caller's output keeps its name; the tensor in another layout under it gets a new one.
  void Exit() {
    std::vector<Node> added;
    for (const std::string& output : std::set<std::string>(graph_->outputs.begin(), graph_->outputs.end())) {
      auto found = tensors_.find(output);
      if (found == tensors_.end()) continue;
      Tensor& tensor = found->second;
      if (layout_ == Layout::kPlain || Outside(&tensor) == output) continue;
      const bool back = layout_ == Layout::kBlocked;  // the caller's is plain
      std::string inner;
      const bool exchange = !Outside(&tensor).empty();
      if (exchange) {
        // Another reader already has it in the caller's layout: swap the names.
        inner = Outside(&tensor);
      } else {
        inner = FreshName(output + (back ? InnerSuffix() : ".plain"));
        added.push_back(
            {output, {semantics::TransformName(layout_, back), {tensor.type}, {}, {}}, {inner}, tensor.type});
      }
      auto rename = [&](std::string* name) {
        if (*name == output) {
          *name = inner;
        } else if (exchange && *name == inner) {
          *name = output;
        }
      };
      for (Node& node : graph_->nodes) {
        rename(&node.name);
        for (std::string& input : node.inputs) rename(&input);
      }
      changed_ = true;
    }
    for (Node& node : added) graph_->nodes.push_back(std::move(node));
  }

  Graph* graph_;
  const Layout layout_;
  std::vector<Node> out_;
  std::map<std::string, Tensor> tensors_;
  std::set<std::string> inputs_, names_;
  bool changed_ = false;
};

}  // namespace

bool AssignLayout(Graph* graph) { return Assigner(graph).Run(); }

Status SetGraphLayout(Layout layout, Graph* graph) {
  if (layout == graph->layout) return Status();
  for (Node& node : graph->nodes) {
    Workload& w = node.workload;
    if (w.chain()) {
      return Status::Unsupported(
          "node `{}` is a group, whose layout cannot change; start from the network without groups", node.name);
    }
    if (semantics::IsTransform(w)) {
      w.op = "identity";
    } else {
      semantics::ForgetLayout(&w);
    }
  }
  graph->layout = layout;
  return Status();
}

}  // namespace hone::graph
