#include "graph/assign_layout.h"

#include <map>
#include <set>

namespace hone::graph {
namespace {

Node Change(const char* op, const std::string& name, const std::string& input, const TensorType& type) {
  return {name, {op, {type}, {}, {}}, {input}, type};
}

bool ReadsPlain(const Node& node) { return node.workload.op == "conv2d" || node.workload.op == "block"; }

class Assigner {
 public:
  explicit Assigner(Graph* graph) : graph_(graph) {
    for (const GraphInput& input : graph->inputs) {
      if (input.type.shape.size() == 4) plain_[input.name] = input.type;
      names_.insert(input.name);
    }
    for (const Node& node : graph->nodes) names_.insert(node.name);
    for (const Parameter& p : graph->parameters) names_.insert(p.name);
  }

  bool Run() {
    Entry();
    Exit();
    return changed_;
  }

 private:
  std::string FreshName(std::string name) {
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  // The blocked form of plain input `name`; its node is made when it is first asked for.
  std::string Blocked(const std::string& name, std::vector<Node>* out) {
    auto found = blocked_.find(name);
    if (found != blocked_.end()) return found->second;
    const std::string made = FreshName(name + ".blocked");
    out->push_back(Change("block", made, name, plain_.at(name)));
    changed_ = true;
    return blocked_[name] = made;
  }

  void Entry() {
    std::vector<Node> out;
    for (Node& node : graph_->nodes) {
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (plain_.count(node.inputs[i]) == 0) continue;
        if (node.workload.op == "block") continue;
        if (i != 0 || !ReadsPlain(node)) {
          node.inputs[i] = Blocked(node.inputs[i], &out);
        } else if (node.workload.Find("in") == nullptr) {
          node.workload.attributes.push_back({"in", {}, ',', "nchw"});
          changed_ = true;
        }
      }
      out.push_back(std::move(node));
    }
    graph_->nodes = std::move(out);
  }

  // The caller's output keeps its name; the blocked tensor under it gets a new one.
  void Exit() {
    std::vector<Node> added;
    for (const std::string& output : graph_->outputs) {
      const Node* found = graph_->FindNode(output);
      if (found == nullptr || found->output.shape.size() != 4 || found->workload.op == "unblock") continue;
      const TensorType type = found->output;
      const std::string inner = FreshName(output + ".blocked");
      for (Node& node : graph_->nodes) {
        if (node.name == output) node.name = inner;
        for (std::string& input : node.inputs) {
          if (input == output) input = inner;
        }
      }
      added.push_back(Change("unblock", output, inner, type));
      changed_ = true;
    }
    for (Node& node : added) graph_->nodes.push_back(std::move(node));
  }

  Graph* graph_;
  std::map<std::string, TensorType> plain_;
  std::map<std::string, std::string> blocked_;
  std::set<std::string> names_;
  bool changed_ = false;
};

}  // namespace

bool AssignLayout(Graph* graph) { return Assigner(graph).Run(); }

}  // namespace hone::graph
