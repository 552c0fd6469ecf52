#include "graph/fold_batch_norm.h"

#include <map>
#include <optional>
#include <set>

#include "semantics/norms.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

// The axis of the node's weight along which its output's channels lie; negative: it has none.
int WeightAxis(const Node& node) {
  return node.workload.chain() ? -1 : semantics::DefinitionOf(node.workload).channels_of_weight;
}

bool IsBatchNorm(const Workload& w) { return !w.chain() && semantics::DefinitionOf(w).normalises_channels; }

bool IsAdd(const Workload& w) { return !w.chain() && semantics::DefinitionOf(w).epilogue == EpilogueKind::kAdd; }

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
  const double epsilon = semantics::BatchNormEpsilon(norm.workload);
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

// A tensor of the type that broadcasts along the channels.
TensorType PerChannel(const TensorType& output) {
  TensorType type{output.type, std::vector<int64_t>(output.shape.size() - 1, 1)};
  type.shape[0] = output.shape[1];
  return type;
}

// What of `kept` makes a tensor that nobody else reads. Null: nothing does.
class Makers {
 public:
  Makers(const std::map<std::string, int>& reads, const std::map<std::string, size_t>& at, std::vector<Node>* kept)
      : reads_(reads), at_(at), kept_(kept) {}
  Node* Of(const std::string& tensor) const {
    const auto found = at_.find(tensor);
    return found != at_.end() && reads_.at(tensor) == 1 ? &(*kept_)[found->second] : nullptr;
  }

 private:
  const std::map<std::string, int>& reads_;
  const std::map<std::string, size_t>& at_;
  std::vector<Node>* kept_;
};

// `norm` reads a transposed convolution, or the sum of one and a bias of parameters: then that one's weight is scaled,
// and the sum, perhaps a new node, gets norm's name. Where it is among `kept`; nothing if norm reads something else.
std::optional<size_t> FoldTransposed(Graph* graph, const Node& norm, const Makers& makers,
                                     const std::set<std::string>& parameters, std::vector<Node>* kept) {
  const TensorType type = PerChannel(norm.output);
  Node *last = makers.Of(norm.inputs[0]), *conv = last;
  const bool biased = last != nullptr && IsAdd(last->workload) && last->workload.epilogue.empty() &&
                      last->workload.inputs[1] == type && parameters.count(last->inputs[1]) != 0;
  if (biased) conv = makers.Of(last->inputs[0]);
  if (conv == nullptr || WeightAxis(*conv) != 1 || !conv->workload.epilogue.empty() ||
      parameters.count(conv->inputs[1]) == 0) {
    return std::nullopt;
  }
  const double epsilon = semantics::BatchNormEpsilon(norm.workload);
  const std::string &gamma = norm.inputs[1], &beta = norm.inputs[2], &mean = norm.inputs[3], &variance = norm.inputs[4];
  const std::string weight = norm.name + ".folded_weight", bias = norm.name + ".folded_bias";
  std::vector<std::string> from = {gamma, beta, mean, variance};
  if (biased) from.push_back(last->inputs[1]);
  graph->parameters.push_back(Derived(weight, conv->workload.inputs[1], InitKind::kFoldTransposed,
                                      {conv->inputs[1], gamma, variance}, epsilon));
  graph->parameters.push_back(Derived(bias, type, InitKind::kFoldBias, std::move(from), epsilon));
  conv->inputs[1] = weight;
  if (biased) {
    last->name = norm.name;
    last->inputs[1] = bias;
    return static_cast<size_t>(last - kept->data());
  }
  const std::string product = conv->name;  // kept grows
  kept->push_back({norm.name, {"add", {norm.output, type}, {}, {}}, {product, bias}, norm.output});
  return kept->size() - 1;
}

// A batch norm that stands alone: x * scale + shift, both of a shape that broadcasts along the channels.
void Expand(Graph* graph, const Node& norm, std::vector<Node>* nodes) {
  const double epsilon = semantics::BatchNormEpsilon(norm.workload);
  const std::string &gamma = norm.inputs[1], &beta = norm.inputs[2], &mean = norm.inputs[3], &variance = norm.inputs[4];
  const TensorType type = PerChannel(norm.output);
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
    bool known = IsBatchNorm(node.workload) && node.workload.epilogue.empty();
    for (size_t i = 1; known && i < node.inputs.size(); ++i) known = parameters.count(node.inputs[i]) != 0;
    bool fits = known && anchor != at.end() && reads.at(node.inputs[0]) == 1 && WeightAxis(kept[anchor->second]) == 0 &&
                OnlyBias(kept[anchor->second]);
    for (size_t i = 1; fits && i < kept[anchor->second].inputs.size(); ++i) {
      fits = parameters.count(kept[anchor->second].inputs[i]) != 0;
    }
    if (known && !fits) {
      if (const auto sum = FoldTransposed(graph, node, Makers(reads, at, &kept), parameters, &kept)) {
        at[node.name] = *sum;
        changed = true;
        continue;
      }
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
