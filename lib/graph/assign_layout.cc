#include <map>
#include <set>

#include "graph/normalise.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

using semantics::CanBeBlocked;

// With more channels, a node `block` pays off: blocked kernels reduce over whole vectors.
constexpr int64_t kFewChannels = 16;

class Assigner {
 public:
  explicit Assigner(Graph* graph) : graph_(graph) {
    for (const GraphInput& input : graph->inputs) {
      inputs_.insert(input.name), names_.insert(input.name);
      if (CanBeBlocked(input.type)) tensors_[input.name] = {input.type, input.name, ""};
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
  // A tensor's names in both layouts; empty for a layout that does not exist yet.
  struct Tensor {
    TensorType type;
    std::string plain, blocked;
  };

  std::string FreshName(std::string name) {
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  // The tensor in that layout; creates the node that converts it on the first request.
  std::string In(const std::string& name, Layout layout) {
    const bool blocked = layout == Layout::kBlocked;
    auto found = tensors_.find(name);
    if (found == tensors_.end()) return name;  // of another rank, or a parameter
    Tensor& tensor = found->second;
    std::string& wanted = blocked ? tensor.blocked : tensor.plain;
    if (wanted.empty()) {
      wanted = FreshName(name + (blocked ? ".blocked" : ".plain"));
      const std::string& from = blocked ? tensor.plain : tensor.blocked;
      out_.push_back({wanted, {blocked ? "block" : "unblock", {tensor.type}, {}, {}}, {from}, tensor.type});
      changed_ = true;
    }
    return wanted;
  }

  bool HasBlocked(const std::string& name) const {
    auto found = tensors_.find(name);
    return found != tensors_.end() && !found->second.blocked.empty();
  }

  // Whether this convolution should read its input plain.
  bool WantsPlainInput(const Node& node) const {
    const std::string& input = node.inputs[0];
    if (tensors_.count(input) == 0) return false;
    if (inputs_.count(input) != 0) return true;
    return !HasBlocked(input) && node.workload.inputs[0].shape[1] <= kFewChannels;
  }

  // Whether an elementwise operator finds its inputs plain.
  bool FindsPlain(const Node& node) const {
    const Workload& w = node.workload;
    if (!CanBeBlocked(node.output)) return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool same_rank = i >= w.inputs.size() || w.inputs[i].shape.size() == node.output.shape.size();
      if (same_rank && HasBlocked(node.inputs[i])) return false;
    }
    return true;
  }

  void Place(Node node) {
    Workload& w = node.workload;
    if (semantics::ChoosesLayout(w) && !semantics::StatedLayout(w) &&
        (semantics::DefinitionOf(w).elementwise ? FindsPlain(node) : WantsPlainInput(node))) {
      semantics::SetLayout(&w, Layout::kPlain);
      changed_ = true;
    }
    const Layout out = semantics::OutputLayout(w);
    for (size_t i = 0; i < node.inputs.size(); ++i) {  // operands of an epilogue have the output's layout
      node.inputs[i] = In(node.inputs[i], i < w.inputs.size() ? semantics::InputLayout(w, i) : out);
    }
    if (CanBeBlocked(node.output)) {
      tensors_[node.name] = {node.output, out == Layout::kPlain ? node.name : "",
                             out == Layout::kPlain ? "" : node.name};
    }
    out_.push_back(std::move(node));
  }

  // The caller's output keeps its name; the blocked tensor under it gets a new one.
  void Exit() {
    std::vector<Node> added;
    for (const std::string& output : std::set<std::string>(graph_->outputs.begin(), graph_->outputs.end())) {
      auto found = tensors_.find(output);
      if (found == tensors_.end() || found->second.blocked != output) continue;
      std::string inner;
      if (!found->second.plain.empty()) {
        // Another reader already has it in plain form: swap the names.
        inner = found->second.plain;
      } else {
        inner = FreshName(output + ".blocked");
        added.push_back({output, {"unblock", {found->second.type}, {}, {}}, {inner}, found->second.type});
      }
      const bool exchange = !found->second.plain.empty();
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
  std::vector<Node> out_;
  std::map<std::string, Tensor> tensors_;
  std::set<std::string> inputs_, names_;
  bool changed_ = false;
};

}  // namespace

bool AssignLayout(Graph* graph) { return Assigner(graph).Run(); }

}  // namespace hone::graph
