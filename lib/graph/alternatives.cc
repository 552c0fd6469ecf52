#include "graph/alternatives.h"

#include <algorithm>
#include <map>
#include <set>

#include "graph/normalise.h"
#include "graph/partition.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

// Members of a group that do more than change single elements or move them.
constexpr size_t kMostSums = 3;

using semantics::ChangesOrMovesElements;

// A reshape of a row-major tensor: the library computes nothing.
bool OnlyNames(const Workload& w) {
  return !w.chain() && semantics::DefinitionOf(w).keeps_order && w.epilogue.empty() && !IsTransform(w) &&
         semantics::InputLayout(w, 0) == Layout::kPlain && semantics::OutputLayout(w) == Layout::kPlain;
}

bool Blocks(const Workload& w) { return IsTransform(w) && semantics::OutputLayout(w) == Layout::kBlocked; }

class Finder {
 public:
  Finder(const Graph& graph, const LegalWorkload& legal) : graph_(graph), legal_(legal) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) index_[graph.nodes[i].name] = i;
    for (const GraphInput& input : graph.inputs) names_.insert(input.name);
    for (const Parameter& p : graph.parameters) names_.insert(p.name);
    for (const Node& node : graph.nodes) {
      names_.insert(node.name);
      for (const std::string& input : node.inputs) readers_[input].insert(index_.at(node.name));
    }
    for (const std::string& output : graph.outputs) outputs_.insert(output);
  }

  std::vector<Alternative> Run() {
    for (const Node& node : graph_.nodes) {
      TryLayout(node);
      TryGroups(node);
    }
    std::vector<Alternative> kept;
    for (const Alternative& alternative : found_) {
      if (!IsPartOfLarger(alternative)) kept.push_back(alternative);
    }
    return kept;
  }

 private:
  const Node& NodeAt(size_t index) const { return graph_.nodes[index]; }

  // Grows a group from `first` by the next node that reads one of its tensors, and tries it whenever nothing outside
  // reads its inner tensors.
  void TryGroups(const Node& first) {
    if (!MayBeMember(first.workload) || OnlyNames(first.workload)) return;
    std::vector<size_t> members = {index_.at(first.name)};
    while (members.size() <= Workload::kMostFollowers && outputs_.count(NodeAt(members.back()).name) == 0) {
      std::set<size_t> next;
      for (const size_t member : members) {
        const auto readers = readers_.find(NodeAt(member).name);
        if (readers != readers_.end()) next.insert(readers->second.begin(), readers->second.end());
      }
      for (const size_t member : members) next.erase(member);
      if (next.empty() || !MayFollow(members, NodeAt(*next.begin()))) return;
      members.push_back(*next.begin());
      next.erase(next.begin());
      if (next.empty() && !OnlyNames(NodeAt(members.back()).workload)) Try(members);
    }
  }

  // The parts of a concatenation can be written directly into it.
  static bool MayBeMember(const Workload& w) {
    return !w.chain() && !IsTransform(w) && !semantics::DefinitionOf(w).concatenates;
  }

  // Whether the last member quantises floats that earlier ones have computed. What follows would have steps as errors,
  // which no tolerance of floats allows.
  bool EndsQuantised(const std::vector<size_t>& members) const {
    Workload group = NodeAt(members[0]).workload;
    for (size_t i = 1; i < members.size(); ++i) group.then.push_back(NodeAt(members[i]).workload);
    return semantics::QuantisesFloats(group);
  }
  bool MayFollow(const std::vector<size_t>& members, const Node& next) const {
    if (!MayBeMember(next.workload) || EndsQuantised(members)) return false;
    size_t sums = ChangesOrMovesElements(next.workload) ? 0 : 1, layers = 0;
    for (const size_t member : members) {
      sums += ChangesOrMovesElements(NodeAt(member).workload) ? 0 : 1;
      layers += semantics::DefinitionOf(NodeAt(member).workload).layer ? 1 : 0;
    }
    // Nothing but a layer precedes a layer: there would be another task of each layer to tune.
    const bool layer = semantics::DefinitionOf(next.workload).layer;
    return sums <= kMostSums && (!layer || layers == members.size());
  }

  void Try(const std::vector<size_t>& members) {
    const Node& last = NodeAt(members.back());
    Node group{last.name, NodeAt(members[0]).workload, NodeAt(members[0]).inputs, last.output};
    Alternative alternative{{NodeAt(members[0]).name}, {}};
    for (size_t i = 1; i < members.size(); ++i) {
      const Node& node = NodeAt(members[i]);
      Workload member = node.workload;
      for (size_t j = 0; j < node.inputs.size(); ++j) {
        int maker = Workload::kOperand;
        for (size_t k = 0; k < i; ++k) {
          if (NodeAt(members[k]).name == node.inputs[j]) maker = static_cast<int>(k);
        }
        if (maker == Workload::kOperand) group.inputs.push_back(node.inputs[j]);
        if (j < member.inputs.size()) {
          member.from.push_back(maker);
        } else if (maker != Workload::kOperand) {
          return;  // an epilogue cannot read a member
        }
      }
      group.workload.then.push_back(std::move(member));
      alternative.replaces.push_back(node.name);
    }
    Result<Workload> workload = legal_(group.workload.Text());
    if (!workload.ok()) return;  // a larger group may be legal
    group.workload = std::move(*workload);
    alternative.by = {std::move(group)};
    found_.push_back(std::move(alternative));
  }

  // Whether another group has all nodes of this one, and more that only change single elements or move them: it
  // does the same with fewer passes over memory. If it has more in front of a sum, they may be in the group of an
  // earlier sum, so this one is kept.
  bool IsPartOfLarger(const Alternative& alternative) const {
    const std::set<std::string> own(alternative.replaces.begin(), alternative.replaces.end());
    if (own.size() < 2) return false;
    const bool begins_small = ChangesOrMovesElements(NodeAt(index_.at(alternative.replaces[0])).workload);
    return std::any_of(found_.begin(), found_.end(), [&](const Alternative& other) {
      size_t shared = 0;
      if (!begins_small && other.replaces[0] != alternative.replaces[0]) return false;
      for (const std::string& name : other.replaces) {
        if (own.count(name) > 0) {
          ++shared;
        } else if (!ChangesOrMovesElements(NodeAt(index_.at(name)).workload)) {
          return false;
        }
      }
      return shared == own.size() && other.replaces.size() > own.size();
    });
  }

  void TryLayout(const Node& node) {
    if (node.workload.chain() || !semantics::MayReadPlain(node.workload)) return;
    const bool plain = semantics::ReadsPlain(node.workload);
    Node other = node;
    semantics::SetReadsPlain(&other.workload, !plain);
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
  std::map<std::string, size_t> index_;
  std::map<std::string, std::set<size_t>> readers_;
  std::set<std::string> outputs_;
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
                                              const std::function<std::optional<double>(const Workload&)>& measured) {
  const auto seconds = [&](const Workload& w) { return OnlyNames(w) ? std::optional<double>(0) : measured(w); };
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
    if (wanted.count(node.name) && !OnlyNames(node.workload)) nodes.push_back(&node);
  }
  return nodes;
}

}  // namespace hone::graph
