#include "graph/normalise.h"

#include <algorithm>
#include <map>
#include <set>

#include "semantics/semantics.h"

namespace hone::graph {

static bool PassesOn(const Node& node) { return !node.workload.chain() && semantics::PassesOn(node.workload); }

bool DropIdentity(Graph* graph) {
  const std::set<std::string> outputs(graph->outputs.begin(), graph->outputs.end());
  std::map<std::string, std::string> renamed;  // new names of tensors, for their readers
  std::vector<Node> kept;
  bool changed = false;
  for (Node& node : graph->nodes) {
    for (std::string& input : node.inputs) {
      if (auto found = renamed.find(input); found != renamed.end()) input = found->second;
    }
    if (!PassesOn(node)) {
      kept.push_back(std::move(node));
      continue;
    }
    const std::string source = node.inputs[0];
    if (outputs.count(node.name) == 0) {
      renamed[node.name] = source;
      changed = true;
      continue;
    }
    // An output keeps its name: its producer takes the name over, unless it is an output itself or not a node.
    Node* producer = nullptr;
    for (Node& other : kept) {
      if (other.name == source) producer = &other;
    }
    if (producer == nullptr || outputs.count(source)) {
      node.workload.op = "identity";
      node.workload.attributes.clear();
      kept.push_back(std::move(node));
      continue;
    }
    producer->name = node.name;
    for (Node& other : kept) std::replace(other.inputs.begin(), other.inputs.end(), source, node.name);
    for (auto& [from, to] : renamed) {
      if (to == source) to = node.name;
    }
    renamed[source] = node.name;
    changed = true;
  }
  graph->nodes = std::move(kept);
  return changed;
}

bool DropDeadCode(Graph* graph) {
  std::set<std::string> needed(graph->outputs.begin(), graph->outputs.end());
  for (size_t i = graph->nodes.size(); i-- > 0;) {
    if (needed.count(graph->nodes[i].name)) needed.insert(graph->nodes[i].inputs.begin(), graph->nodes[i].inputs.end());
  }
  // Sources precede the parameters derived from them.
  for (size_t i = graph->parameters.size(); i-- > 0;) {
    const Parameter& p = graph->parameters[i];
    if (needed.count(p.name)) needed.insert(p.init.from.begin(), p.init.from.end());
  }
  const auto dead = [&](const auto& item) { return needed.count(item.name) == 0; };
  const size_t nodes = std::erase_if(graph->nodes, dead);
  const size_t parameters = std::erase_if(graph->parameters, dead);
  return nodes + parameters > 0;
}

// Only graphs with channels last have tensors stored so.
static Status CheckStatedLayouts(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    for (const Workload& part : node.workload.Parts()) {
      const bool last = semantics::OutputLayout(part) == Layout::kChannelsLast ||
                        semantics::InputLayout(part, 0) == Layout::kChannelsLast;
      if (!last || graph.layout == Layout::kChannelsLast) continue;
      return Status::Invalid("node `{}`: {} has channels last, but the graph's `layout` is {}, not nhwc", node.name,
                             part.op, LayoutName(graph.layout));
    }
  }
  return Status();
}

Status Normalise(Graph* graph, std::optional<Layout> layout) {
  HONE_RETURN_IF_ERROR(SetGraphLayout(layout.value_or(graph->layout), graph));
  DropIdentity(graph);
  DropTapsInPadding(graph);
  FoldBatchNorm(graph);
  FuseEpilogue(graph);
  DropDeadCode(graph);
  for (const Node& node : graph->nodes) {
    if (!node.workload.chain() && semantics::DefinitionOf(node.workload).normalises_channels) {
      return Status::Unsupported("node `" + node.name +
                                 "`: a batch norm is supported only with parameters for its four last inputs");
    }
  }
  HONE_RETURN_IF_ERROR(CheckStatedLayouts(*graph));
  AssignLayout(graph);
  return CheckGraph(graph);
}

}  // namespace hone::graph
