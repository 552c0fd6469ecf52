#include <algorithm>
#include <map>
#include <set>

#include "graph/normalise.h"
#include "semantics/attributes.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

bool IsBatchNorm(const Workload& w) { return !w.chain() && semantics::DefinitionOf(w).normalises_channels; }

// The axis of the node's weight that holds the output channels; negative without such a weight.
int WeightAxis(const Node& node) {
  return node.workload.chain() ? -1 : semantics::DefinitionOf(node.workload).channels_of_weight;
}

bool OnlyBias(const Node& node) {
  return node.workload.epilogue.empty() ||
         (node.workload.epilogue.size() == 1 && node.workload.epilogue[0].kind == EpilogueKind::kBias);
}

// A tensor type that broadcasts along the channels.
TensorType PerChannel(const TensorType& output) {
  TensorType type{output.type, std::vector<int64_t>(output.shape.size() - 1, 1)};
  type.shape[0] = output.shape[1];
  return type;
}

class Folder {
 public:
  explicit Folder(Graph* graph) : graph_(graph), reads_(CountReads(*graph)) {
    for (const Parameter& p : graph->parameters) parameters_.insert(p.name);
  }

  bool Run() {
    bool changed = false;
    for (Node& node : graph_->nodes) {
      // Neither the statistics nor the weight may be computed by the network itself.
      if (!IsBatchNorm(node.workload) || !node.workload.epilogue.empty() || !Known(node)) {
        Keep(std::move(node));
        continue;
      }
      changed = true;
      if (!Fold(node)) Expand(node);
    }
    graph_->nodes = std::move(kept_);
    return changed;
  }

 private:
  void Keep(Node node) {
    at_[node.name] = kept_.size();
    kept_.push_back(std::move(node));
  }

  // Whether the values of all inputs except the first are known when the library is built.
  bool Known(const Node& node) const {
    return std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                       [&](const std::string& input) { return parameters_.count(input) != 0; });
  }

  // The node that makes a tensor with a single reader; null if no node makes it.
  Node* MakerOf(const std::string& tensor) {
    const auto found = at_.find(tensor);
    return found != at_.end() && reads_.at(tensor) == 1 ? &kept_[found->second] : nullptr;
  }

  // `node` now makes the tensor that the batch norm made.
  void Rename(Node* node, const Node& norm) {
    node->name = norm.name;
    at_[norm.name] = static_cast<size_t>(node - kept_.data());
  }

  std::string Derive(const Node& norm, const char* suffix, const TensorType& type, InitKind kind,
                     std::vector<std::string> from) {
    Initialiser init{.kind = kind, .from = std::move(from), .epsilon = semantics::BatchNormEpsilon(norm.workload)};
    graph_->parameters.push_back({norm.name + suffix, type, std::move(init)});
    return graph_->parameters.back().name;
  }
  std::string Scaled(const Node& norm, const char* suffix, const TensorType& type, InitKind kind,
                     const std::string& weight) {
    return Derive(norm, suffix, type, kind, {weight, norm.inputs[1], norm.inputs[4]});
  }
  // `bias` is empty without a bias.
  std::string Shifted(const Node& norm, const char* suffix, const TensorType& type, const std::string& bias) {
    std::vector<std::string> from(norm.inputs.begin() + 1, norm.inputs.end());
    if (!bias.empty()) from.push_back(bias);
    return Derive(norm, suffix, type, InitKind::kFoldBias, std::move(from));
  }

  // Into the weight and the bias of the layer that makes norm's input.
  bool Fold(const Node& norm) {
    Node* layer = MakerOf(norm.inputs[0]);
    if (layer == nullptr || WeightAxis(*layer) < 0 || !OnlyBias(*layer) || !Known(*layer)) return false;
    const std::string data = layer->inputs[0], raw = layer->inputs.size() > 2 ? layer->inputs[2] : "";
    const TensorType channels{layer->output.type, {layer->output.shape[1]}};
    const InitKind kind = WeightAxis(*layer) == 0 ? InitKind::kFoldWeight : InitKind::kFoldTransposed;
    const std::string weight = Scaled(norm, ".folded_weight", layer->workload.inputs[1], kind, layer->inputs[1]);
    layer->inputs = {data, weight, Shifted(norm, ".folded_bias", channels, raw)};
    layer->workload.epilogue = {{EpilogueKind::kBias, 0, 0}};
    Rename(layer, norm);
    return true;
  }

  // Replaces a batch norm that cannot be folded by x * scale + shift: on images by a depthwise convolution of one tap,
  // which is one kernel with an activation that follows; else by two nodes, with parameters that broadcast along the
  // channels.
  void Expand(const Node& norm) {
    const bool image = norm.output.shape.size() == 4;
    const int64_t channels = norm.output.shape[1];
    const TensorType type = image ? TensorType{norm.output.type, {channels, 1, 1, 1}} : PerChannel(norm.output);
    graph_->parameters.push_back({norm.name + ".ones", type, {.kind = InitKind::kConstant, .low = 1}});
    const std::string scale = Scaled(norm, ".scale", type, InitKind::kFoldWeight, norm.name + ".ones");
    const std::string shift = Shifted(norm, ".shift", image ? TensorType{type.type, {channels}} : type, "");
    if (image) {
      Workload workload{"conv2d", {norm.output, type}, {}, {{EpilogueKind::kBias, 0, 0}}};
      if (channels > 1) workload.attributes.push_back({"groups", {channels}, ',', ""});
      return Keep({norm.name, workload, {norm.inputs[0], scale, shift}, norm.output});
    }
    const std::string scaled = norm.name + ".scaled";
    Keep({scaled, {"mul", {norm.output, type}, {}, {}}, {norm.inputs[0], scale}, norm.output});
    Keep({norm.name, {"add", {norm.output, type}, {}, {}}, {scaled, shift}, norm.output});
  }

  Graph* graph_;
  const std::map<std::string, int> reads_;
  std::set<std::string> parameters_;
  std::map<std::string, size_t> at_;  // by name: index in `kept_`
  std::vector<Node> kept_;
};

}  // namespace

bool FoldBatchNorm(Graph* graph) { return Folder(graph).Run(); }

}  // namespace hone::graph
