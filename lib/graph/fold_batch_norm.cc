#include "graph/fold_batch_norm.h"

#include <map>
#include <set>

#include "graph/shape.h"

namespace hone::graph {
namespace {

bool HasWeight(const Node& node) {
  if (node.workload.chain()) return false;
  return node.workload.op == "conv2d" || node.workload.op == "conv3d" || node.workload.op == "dense";
}

bool OnlyBias(const Node& node) {
  return node.workload.epilogue.empty() ||
         (node.workload.epilogue.size() == 1 && node.workload.epilogue[0].kind == EpilogueKind::kBias);
}

Parameter Derived(const std::string& name, const TensorType& type, InitKind kind, std::vector<std::string> from,
                  double epsilon) {
  Parameter p{name, type, {}};
  p.init.kind = kind;
  p.init.from = std::move(from);
  p.init.epsilon = epsilon;
  return p;
}

// `norm` reads `anchor`'s output. Afterwards `anchor` computes what `norm` did, under norm's name.
void Fold(Graph* graph, Node* anchor, const Node& norm) {
  const double epsilon = BatchNormEpsilon(norm.workload);
  const std::string &gamma = norm.inputs[1], &beta = norm.inputs[2], &mean = norm.inputs[3], &variance = norm.inputs[4];
  const std::string weight = norm.name + ".folded_weight", bias = norm.name + ".folded_bias";
  std::vector<std::string> bias_from = {gamma, beta, mean, variance};
  if (!anchor->workload.epilogue.empty()) bias_from.push_back(anchor->inputs[2]);
  graph->parameters.push_back(Derived(weight, anchor->workload.inputs[1], InitKind::kFoldWeight,
                                      {anchor->inputs[1], gamma, variance}, epsilon));
  graph->parameters.push_back(Derived(bias, {anchor->output.type, {anchor->output.shape[1]}}, InitKind::kFoldBias,
                                      std::move(bias_from), epsilon));
  anchor->name = norm.name;
  anchor->inputs = {anchor->inputs[0], weight, bias};
  anchor->workload.epilogue = {{EpilogueKind::kBias, 0, 0}};
}

// A batch norm that stands alone: x * scale + shift, both of a shape that broadcasts along the channels.
void Expand(Graph* graph, const Node& norm, std::vector<Node>* nodes) {
  const double epsilon = BatchNormEpsilon(norm.workload);
  const std::string &gamma = norm.inputs[1], &beta = norm.inputs[2], &mean = norm.inputs[3], &variance = norm.inputs[4];
  TensorType type{norm.output.type, std::vector<int64_t>(norm.output.shape.size() - 1, 1)};
  type.shape[0] = norm.output.shape[1];
  const std::string ones = norm.name + ".ones", scale = norm.name + ".scale", shift = norm.name + ".shift";
  Parameter one{ones, type, {}};
  one.init.low = 1;
  graph->parameters.push_back(std::move(one));
  graph->parameters.push_back(Derived(scale, type, InitKind::kFoldWeight, {ones, gamma, variance}, epsilon));
  graph->parameters.push_back(Derived(shift, type, InitKind::kFoldBias, {gamma, beta, mean, variance}, epsilon));
  const std::string scaled = norm.name + ".scaled";
  nodes->push_back({scaled, {"mul", {norm.output, type}, {}, {}}, {norm.inputs[0], scale}, norm.output});
  nodes->push_back({norm.name, {"add", {norm.output, type}, {}, {}}, {scaled, shift}, norm.output});
}

}  // namespace

bool FoldBatchNorm(Graph* graph) {
  const auto reads = CountReads(*graph);
  std::set<std::string> parameters;
  for (const Parameter& p : graph->parameters) parameters.insert(p.name);
  std::map<std::string, size_t> at;  // name -> index in `kept`
  std::vector<Node> kept;
  bool changed = false;
  for (Node& node : graph->nodes) {
    auto anchor = at.find(node.inputs[0]);
    // Values known when building: neither the statistics nor the weight may be computed by the network itself.
    bool known = node.workload.op == "batch_norm" && node.workload.epilogue.empty();
    for (size_t i = 1; known && i < node.inputs.size(); ++i) known = parameters.count(node.inputs[i]) != 0;
    bool fits = known && anchor != at.end() && reads.at(node.inputs[0]) == 1 && HasWeight(kept[anchor->second]) &&
                OnlyBias(kept[anchor->second]);
    for (size_t i = 1; fits && i < kept[anchor->second].inputs.size(); ++i) {
      fits = parameters.count(kept[anchor->second].inputs[i]) != 0;
    }
    if (known && !fits) {
      at[node.name] = kept.size() + 1;
      Expand(graph, node, &kept);
      changed = true;
      continue;
    }
    if (!fits) {
      at[node.name] = kept.size();
      kept.push_back(std::move(node));
      continue;
    }
    const size_t index = anchor->second;
    Fold(graph, &kept[index], node);
    at[node.name] = index;
    changed = true;
  }
  graph->nodes = std::move(kept);
  return changed;
}

}  // namespace hone::graph
