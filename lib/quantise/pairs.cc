#include "quantise/pairs.h"

#include <algorithm>
#include <functional>

#include "base/text.h"
#include "semantics/quantise.h"
#include "semantics/semantics.h"

namespace hone::quantise {
namespace {

using graph::Graph;
using graph::Node;

bool IsFloat(const TensorType& type) { return type.type == DType::Float(32); }

// Whether the operator can compute with integers: its sums do not leave i32, and a limit replaces its activation.
bool IsLayer(const Graph& graph, const Node& node, const std::map<std::string, int>& reads) {
  const Workload& w = node.workload;
  if (w.chain() || (w.op != "conv2d" && w.op != "conv3d" && w.op != "dense") || w.inputs.size() != 2) return false;
  const graph::Parameter* weight = graph.FindParameter(node.inputs[1]);
  if (weight == nullptr || graph.FindParameter(node.inputs[0]) != nullptr || reads.at(weight->name) != 1) return false;
  if (!IsFloat(w.inputs[0]) || !IsFloat(w.inputs[1])) return false;
  Workload integers{w.op, {w.inputs[0], w.inputs[1]}, w.attributes, {}};
  integers.inputs[0].type = DType::UInt(8), integers.inputs[1].type = DType::Int(8);
  return semantics::InferOutput(integers).ok();
}

// Whether the output's values are among those of the inputs, or averages of them, so that all can share a grid.
bool PassesValues(const Graph& graph, const Node& node) {
  const Workload& w = node.workload;
  if (w.chain() || !w.epilogue.empty() || !IsFloat(node.output)) return false;
  if (std::ranges::any_of(node.inputs, [&](const auto& input) { return graph.FindParameter(input) != nullptr; })) {
    return false;
  }
  return semantics::DefinitionOf(w).selects || w.op == "avg_pool2d" || w.op == "avg_pool3d";
}

// Sets of tensors that are joined step by step.
class Sets {
 public:
  std::string Root(const std::string& name) {
    std::string& parent = parents_.try_emplace(name, name).first->second;
    return parent == name ? name : parent = Root(std::string(parent));
  }
  void Join(const std::string& a, const std::string& b) { parents_[Root(b)] = Root(a); }

 private:
  std::map<std::string, std::string> parents_;
};

}  // namespace

std::set<std::string> Plan::Observed() const {
  std::set<std::string> all(layers.begin(), layers.end());
  for (const auto& group : groups) all.insert(group.begin(), group.end());
  return all;
}

Result<std::string> FindKept(const std::string& name, const Graph& original, const Graph& normalised) {
  std::string at = name;
  while (original.FindNode(at) != nullptr || normalised.FindNode(at) != nullptr) {
    if (normalised.FindNode(at) != nullptr) return at;
    const auto reader =
        std::ranges::find_if(original.nodes, [&](const Node& node) { return std::ranges::count(node.inputs, at) > 0; });
    if (reader == original.nodes.end()) break;
    at = reader->name;
  }
  std::vector<std::string> known;
  for (const Graph* graph : {&original, &normalised}) {
    for (const Node& node : graph->nodes) known.push_back(node.name);
  }
  const auto near = Suggest(name, known);
  return Status::NotFound(
      "no node `{}` is in {}{}", name, original.name,
      near ? "; did you mean `" + *near + "`?" : "; hone-extract --graph writes a file that has all");
}

Result<Plan> MakePlan(const Graph& graph, const std::set<std::string>& keep) {
  const auto reads = graph::CountReads(graph);
  std::set<std::string> layers;
  std::set<std::string> wanted;  // tensors that some node reads as bytes
  Sets sets;
  for (const Node& node : graph.nodes) {
    if (semantics::IsQuantise(node.workload) || semantics::IsDequantise(node.workload)) {
      return Status::Unsupported("{} has quantised tensors already: node `{}` is a {}", graph.name, node.name,
                                 node.workload.op);
    }
    if (keep.count(node.name) == 0 && IsLayer(graph, node, reads)) layers.insert(node.name);
  }
  // Readers first.
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    if (layers.count(node.name) != 0) {
      wanted.insert(node.inputs[0]);
      if (!node.workload.HasEpilogue(EpilogueKind::kAdd) || wanted.count(node.name) == 0) continue;
      // Operands of the epilogue follow data and weight; a bias is a parameter.
      const std::string& last = node.inputs.back();
      if (graph.FindParameter(last) == nullptr) wanted.insert(last);
    } else if (node.workload.op == "global_avg_pool" && IsFloat(node.output) && keep.count(node.name) == 0) {
      // An average of bytes is good enough, and its result gets a grid of its own.
      const Node* maker = graph.FindNode(node.inputs[0]);
      if (maker != nullptr && (layers.count(maker->name) != 0 || PassesValues(graph, *maker))) {
        wanted.insert(maker->name);
      }
    } else if (wanted.count(node.name) != 0 && keep.count(node.name) == 0 && PassesValues(graph, node)) {
      for (const std::string& input : node.inputs) sets.Join(node.name, input), wanted.insert(input);
    }
  }
  Plan plan{.keep = keep};
  std::map<std::string, size_t> index;  // of a set's group
  const auto add = [&](const std::string& tensor) {
    if (wanted.count(tensor) == 0) return;
    const auto [found, added] = index.try_emplace(sets.Root(tensor), plan.groups.size());
    if (added) plan.groups.emplace_back();
    plan.groups[found->second].push_back(tensor);
  };
  for (const graph::GraphInput& input : graph.inputs) add(input.name);
  for (const Node& node : graph.nodes) {
    add(node.name);
    if (layers.count(node.name) != 0) plan.layers.push_back(node.name);
  }
  return plan;
}

std::map<std::string, std::string> InsertPairs(const Plan& plan, const TensorGrids& grids, Graph* graph) {
  const std::set<std::string> layers(plan.layers.begin(), plan.layers.end());
  std::map<std::string, const std::vector<std::string>*> group_of;
  for (const auto& group : plan.groups) {
    for (const std::string& tensor : group) group_of[tensor] = &group;
  }
  std::set<std::string> names;
  for (const auto& input : graph->inputs) names.insert(input.name);
  for (const auto& parameter : graph->parameters) names.insert(parameter.name);
  for (const Node& node : graph->nodes) names.insert(node.name);
  const auto fresh = [&](std::string name) {
    while (!names.insert(name).second) name += "_";
    return name;
  };
  // Of each group: the parameters with scale and zero point.
  std::map<const std::vector<std::string>*, std::pair<std::string, std::string>> parameters;
  for (const auto& group : plan.groups) {
    const graph::Grid& grid = grids.at(group.front());
    const auto [scale, zero] = parameters[&group] = {fresh(group.front() + ".scale"), fresh(group.front() + ".zero")};
    const auto add = [&](const std::string& name, DType type, double value) {
      graph->parameters.push_back({name, {type, {1}}, {.kind = graph::InitKind::kValues, .values = {value}}});
    };
    add(scale, DType::Float(32), static_cast<double>(grid.scales[0]));
    add(zero, grid.type, grid.zeros[0]);
  }
  std::vector<Node> old = std::move(graph->nodes);
  graph->nodes.clear();
  std::map<std::string, std::string> bytes, floats;               // the tensors behind the nodes of the pair
  const auto insert = [&](std::string tensor, TensorType type) {  // copies: `nodes` grows
    const auto found = group_of.find(tensor);
    if (found == group_of.end()) return;
    const auto& [scale, zero] = parameters.at(found->second);
    const DType byte = grids.at(tensor).type;
    bytes[tensor] = fresh(tensor + ".bytes"), floats[tensor] = fresh(tensor + ".real");
    const TensorType one{DType::Float(32), {1}}, zeros{byte, {1}}, quantised{byte, type.shape};
    graph->nodes.push_back(
        {bytes[tensor], {.op = "quantise", .inputs = {type, one, zeros}}, {tensor, scale, zero}, quantised});
    graph->nodes.push_back(
        {floats[tensor], {.op = "dequantise", .inputs = {quantised, one, zeros}}, {bytes[tensor], scale, zero}, type});
  };
  for (const graph::GraphInput& input : graph->inputs) insert(input.name, input.type);
  std::set<std::string> on_bytes;  // outputs of nodes that will work on bytes
  for (Node& node : old) {
    // Those whose output is in the group of their input pass its values.
    const auto in = group_of.find(node.inputs.empty() ? "" : node.inputs[0]), out = group_of.find(node.name);
    const bool layer = layers.count(node.name) != 0;
    const bool passes = !layer && in != group_of.end() && out != group_of.end() && in->second == out->second;
    for (std::string& input : node.inputs) {
      if (plan.keep.contains(node.name)) break;
      const auto found = floats.find(input);
      if (found != floats.end() && (layer || passes || on_bytes.count(input) != 0)) input = found->second;
    }
    if (layer || passes) on_bytes.insert(node.name);
    graph->nodes.push_back(std::move(node));
    insert(graph->nodes.back().name, graph->nodes.back().output);
  }
  return bytes;
}

}  // namespace hone::quantise
