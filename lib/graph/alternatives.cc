#include "graph/alternatives.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "graph/normalise.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

constexpr size_t kLongestChain = 3;

bool Blocks(const Workload& w) { return IsTransform(w) && semantics::OutputLayout(w) == Layout::kBlocked; }

class Finder {
 public:
  Finder(const Graph& graph, const LegalWorkload& legal) : graph_(graph), legal_(legal), reads_(CountReads(graph)) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) index_[graph.nodes[i].name] = i;
    for (const GraphInput& input : graph.inputs) names_.insert(input.name);
    for (const Parameter& p : graph.parameters) names_.insert(p.name);
    for (const Node& node : graph.nodes) {
      names_.insert(node.name);
      // Chains follow a node's first input if the node is its only reader.
      if (!node.inputs.empty() && index_.count(node.inputs[0]) && Reads(node.inputs[0]) == 1) {
        next_[node.inputs[0]] = node.name;
      }
    }
  }

  std::vector<Alternative> Run() {
    for (const Node& node : graph_.nodes) {
      TryLayout(node);
      TryChains(node);
    }
    return std::move(found_);
  }

 private:
  int Reads(const std::string& tensor) const {
    auto found = reads_.find(tensor);
    return found == reads_.end() ? 0 : found->second;
  }

  void TryChains(const Node& first) {
    if (IsTransform(first.workload)) return;
    Node chain = first;
    std::string text = first.workload.Text();
    std::vector<std::string> names = {first.name};
    for (auto next = next_.find(first.name); next != next_.end() && names.size() < kLongestChain;
         next = next_.find(next->second)) {
      const Node& node = graph_.nodes[index_.at(next->second)];
      if (IsTransform(node.workload)) return;
      text += " -> " + node.workload.Text();
      names.push_back(node.name);
      chain.name = node.name;
      chain.output = node.output;
      chain.inputs.insert(chain.inputs.end(), node.inputs.begin() + 1, node.inputs.end());
      Result<Workload> workload = legal_(text);
      if (!workload.ok()) continue;  // three nodes may form a chain where two do not
      chain.workload = std::move(*workload);
      found_.push_back({names, {chain}});
    }
  }

  void TryLayout(const Node& node) {
    if (!semantics::ChoosesLayout(node.workload) || semantics::DefinitionOf(node.workload).elementwise) return;
    const bool plain = semantics::StatedLayout(node.workload) == Layout::kPlain;
    Node other = node;
    semantics::SetLayout(&other.workload, plain ? Layout::kBlocked : Layout::kPlain);
    if (!plain) {
      // Only if its input was plain before.
      auto from = index_.find(node.inputs[0]);
      if (from == index_.end() || !Blocks(graph_.nodes[from->second].workload)) return;
      other.inputs[0] = graph_.nodes[from->second].inputs[0];
    }
    Result<Workload> workload = legal_(other.workload.Text());
    if (!workload.ok() || *workload == node.workload) return;
    other.workload = std::move(*workload);
    std::vector<Node> by;
    if (plain) {
      by.push_back(Blocked(node.inputs[0], node.workload.inputs[0]));
      if (!legal_(by[0].workload.Text()).ok()) return;
      other.inputs[0] = by[0].name;
    }
    by.push_back(std::move(other));
    found_.push_back({{node.name}, std::move(by)});
  }

  // The node that blocks a tensor: one of the graph, or one of an earlier alternative.
  Node Blocked(const std::string& tensor, const TensorType& type) {
    for (const Node& node : graph_.nodes) {
      if (Blocks(node.workload) && node.inputs[0] == tensor) return node;
    }
    auto [made, added] = blocks_.try_emplace(tensor);
    if (added) {
      std::string name = tensor + ".blocked";
      while (!names_.insert(name).second) name += "_";
      Workload workload;
      workload.op = "block";
      workload.inputs = {type};
      made->second = {name, std::move(workload), {tensor}, type};
    }
    return made->second;
  }

  const Graph& graph_;
  const LegalWorkload& legal_;
  std::map<std::string, int> reads_;
  std::map<std::string, size_t> index_;
  std::map<std::string, std::string> next_;
  std::map<std::string, Node> blocks_;
  std::set<std::string> names_;
  std::vector<Alternative> found_;
};

std::string Place(const Alternative& alternative) {
  std::string text;
  for (const std::string& name : alternative.replaces) text += (text.empty() ? "" : ", ") + name;
  return "alternative for `" + text + "`";
}

}  // namespace

std::vector<Alternative> FindAlternatives(const Graph& graph, const LegalWorkload& legal) {
  return Finder(graph, legal).Run();
}

bool IsTransform(const Workload& workload) { return !workload.chain() && semantics::IsTransform(workload); }

Result<Graph> WithAlternatives(const Graph& graph, const std::vector<Alternative>& taken) {
  if (taken.empty()) return graph;
  std::map<std::string, const Alternative*> at;  // by the last node that it replaces
  std::set<std::string> gone;
  for (const Alternative& alternative : taken) {
    const std::string what = Place(alternative);
    if (alternative.replaces.empty() || alternative.by.empty() ||
        alternative.by.back().name != alternative.replaces.back()) {
      return Status::Invalid(what + ": its last node must have the name of the last one that it replaces");
    }
    for (const std::string& name : alternative.replaces) {
      if (graph.FindNode(name) == nullptr) {
        return Status::Invalid(fmt::format("{}: the graph has no node `{}`", what, name));
      }
      if (!gone.insert(name).second) {
        return Status::Invalid(fmt::format("{}: another one replaces `{}` already", what, name));
      }
    }
    at[alternative.replaces.back()] = &alternative;
  }
  Graph out = graph;
  out.nodes.clear();
  std::map<std::string, const Node*> transforms;
  for (const Node& node : graph.nodes) {
    auto found = at.find(node.name);
    if (found == at.end()) {
      if (!gone.count(node.name)) out.nodes.push_back(node);
      continue;
    }
    for (const Node& by : found->second->by) {
      if (IsTransform(by.workload)) {
        const Node* same = graph.FindNode(by.name);
        if (same == nullptr) same = transforms.emplace(by.name, &by).first->second;
        if (same != &by) {
          if (*same == by) continue;
          return Status::Invalid(
              fmt::format("{}: its node `{}` is not the one of that name", Place(*found->second), by.name));
        }
      }
      out.nodes.push_back(by);
    }
  }
  HONE_RETURN_IF_ERROR(SortNodes(&out));
  HONE_RETURN_IF_ERROR(CheckGraph(&out));
  DropDeadCode(&out);
  return out;
}

}  // namespace hone::graph
