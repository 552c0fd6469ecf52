#include "graph/alternatives.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/normalise.h"
#include "graph/partition.h"
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

// The nodes that run only if something needs them.
std::set<std::string> Transforms(const Graph& graph) {
  std::set<std::string> transforms;
  const std::set<std::string> outputs(graph.outputs.begin(), graph.outputs.end());
  for (const Node& node : graph.nodes) {
    // A transform that reads another transform counts as an ordinary node: needing it means needing the other one.
    if (IsTransform(node.workload) && !outputs.count(node.name) && !transforms.count(node.inputs[0])) {
      transforms.insert(node.name);
    }
  }
  return transforms;
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
        return Status::Invalid("{}: the graph has no node `{}`", what, name);
      }
      if (!gone.insert(name).second) {
        return Status::Invalid("{}: another one replaces `{}` already", what, name);
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
          return Status::Invalid("{}: its node `{}` is not the one of that name", Place(*found->second), by.name);
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

Result<ChosenAlternatives> ChooseAlternatives(const Graph& graph, const std::vector<Alternative>& alternatives,
                                              const std::function<std::optional<double>(const Workload&)>& seconds) {
  PartitionProblem problem;
  const std::set<std::string> lazy = Transforms(graph);
  std::map<std::string, int> transforms, items;
  const auto transform = [&](const Node& node) {
    auto [found, added] = transforms.emplace(node.name, static_cast<int>(problem.transforms.size()));
    if (added) problem.transforms.push_back(seconds(node.workload).value_or(0));
  };
  const auto add_demands = [&](const Node& node, std::vector<int>* demands) {
    for (const std::string& input : node.inputs) {
      auto found = transforms.find(input);
      if (found == transforms.end()) continue;
      if (std::find(demands->begin(), demands->end(), found->second) == demands->end()) {
        demands->push_back(found->second);
      }
    }
  };
  for (const Node& node : graph.nodes) {
    if (lazy.count(node.name)) {
      transform(node);
      continue;
    }
    items[node.name] = problem.items;
    PartitionOption alone{{problem.items++}, seconds(node.workload).value_or(0), {}};
    add_demands(node, &alone.transforms);
    problem.options.push_back(std::move(alone));
  }
  ChosenAlternatives chosen;
  std::set<int> demanded;
  for (const PartitionOption& option : problem.options) {
    chosen.alone_seconds += option.seconds;
    demanded.insert(option.transforms.begin(), option.transforms.end());
  }
  for (const int t : demanded) chosen.alone_seconds += problem.transforms[static_cast<size_t>(t)];

  std::map<size_t, size_t> of;  // alternatives by option
  for (size_t i = 0; i < alternatives.size(); ++i) {
    const Alternative& alternative = alternatives[i];
    bool known = true;
    PartitionOption option;
    for (const std::string& name : alternative.replaces) {
      const Node* node = graph.FindNode(name);
      auto item = items.find(name);
      if (node == nullptr || item == items.end()) {
        return Status::Invalid("an alternative replaces `" + name + "`, which is not a node of " + graph.name);
      }
      known = known && seconds(node->workload);
      option.items.push_back(item->second);
    }
    for (const Node& node : alternative.by) known = known && seconds(node.workload);
    if (!known) continue;
    std::sort(option.items.begin(), option.items.end());
    for (const Node& node : alternative.by) {
      if (&node != &alternative.by.back()) {
        transform(node);
        continue;
      }
      option.seconds = *seconds(node.workload);
      add_demands(node, &option.transforms);
    }
    of[problem.options.size()] = i;
    problem.options.push_back(std::move(option));
  }
  HONE_ASSIGN_OR_RETURN(const Partition partition, SolvePartition(problem));
  for (const int option : partition.options) {
    auto found = of.find(static_cast<size_t>(option));
    if (found != of.end()) chosen.taken.push_back(found->second);
  }
  std::sort(chosen.taken.begin(), chosen.taken.end());
  chosen.chosen_seconds = chosen.taken.empty() ? chosen.alone_seconds : partition.seconds;
  chosen.exact = partition.exact;
  return chosen;
}

std::vector<const Node*> NodesToTime(const Graph& graph, const std::vector<Alternative>& alternatives) {
  const std::set<std::string> lazy = Transforms(graph);
  std::set<std::string> wanted;
  const auto demands = [&](const Node& node) {
    for (const std::string& input : node.inputs) {
      if (lazy.count(input)) wanted.insert(input);
    }
  };
  for (const Alternative& alternative : alternatives) {
    for (const std::string& name : alternative.replaces) {
      wanted.insert(name);
      if (const Node* node = graph.FindNode(name)) demands(*node);
    }
    for (const Node& node : alternative.by) demands(node);
  }
  std::vector<const Node*> nodes;
  for (const Node& node : graph.nodes) {
    if (wanted.count(node.name)) nodes.push_back(&node);
  }
  return nodes;
}

}  // namespace hone::graph
