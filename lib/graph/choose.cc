#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "graph/alternatives.h"
#include "graph/partition.h"

namespace hone::graph {
namespace {

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
