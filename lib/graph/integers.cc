// One class, and so one file of more than 500 lines: each conversion looks back at what the others have made, and all
// share the new nodes, the fresh names, the parameters and their values.
#include "graph/integers.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "graph/normalise.h"
#include "graph/shifts.h"
#include "semantics/epilogue.h"
#include "semantics/quantise.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

// The grid of a tensor of bytes, and the parameters that say so.
struct ByteTensor {
  std::string name;
  DType type;
  float scale = 1;
  int32_t zero = 0;
  std::string scale_parameter, zero_parameter;
};

// A layer of floats that can be one of integers.
struct Layer {
  Workload sums;                      // with its bias
  std::vector<std::string> operands;  // of `sums`
  std::vector<float> scales;          // of the sums, by channel
  std::vector<EpilogueOp> rest;       // after the bias: `add`, then an activation
  std::string residual;               // if `rest` has `add`
};

// Sums and biases then stay in i32: ProductType limits the sums.
constexpr double kMostBias = 1 << 29;

double Rounded(double value, double low, double high) {
  return std::isnan(value) ? low : std::clamp(std::nearbyint(value), low, high);
}

// Goes over the nodes in order, and looks back at those that make a node's operands. A layer becomes its sums and
// `dequantise`; if `quantise` turns out to be their only reader, one operator takes the place of all, and they are
// dropped as dead code.
class Converter {
 public:
  Converter(const WeightGrids& weights, SameGrids same, Rescaling rescaling, Graph* graph, ParameterValues* values)
      : weights_(weights), same_(same), rescaling_(rescaling), graph_(graph), values_(values) {}

  Status Run() {
    DropIdentity(graph_);
    FuseEpilogue(graph_);
    reads_ = CountReads(*graph_);
    outputs_.insert(graph_->outputs.begin(), graph_->outputs.end());
    for (const Parameter& p : graph_->parameters) parameters_[p.name] = p, names_.insert(p.name);
    for (const GraphInput& input : graph_->inputs) names_.insert(input.name);
    for (const Node& node : graph_->nodes) names_.insert(node.name);
    for (Node& node : std::exchange(graph_->nodes, {})) {
      for (std::string& input : node.inputs) {
        if (const auto renamed = renamed_.find(input); renamed != renamed_.end()) input = renamed->second;
      }
      const bool quantises = semantics::IsQuantise(node.workload);
      const std::string of = quantises ? ", which quantises `" + node.inputs[0] + "`" : "";
      const std::string name = "node `" + node.name + "`" + of;
      const Status status = Convert(std::move(node));
      if (!status.ok()) return status.WithContext(name);
    }
    graph_->nodes = std::move(done_);
    DropDeadCode(graph_);
    std::erase_if(*values_, [&](const auto& item) { return graph_->FindParameter(item.first) == nullptr; });
    return CheckGraph(graph_);
  }

 private:
  Status Convert(Node node) {
    if (semantics::IsDequantise(node.workload) || semantics::IsQuantise(node.workload)) {
      HONE_RETURN_IF_ERROR(CheckScale(node));
    }
    if (node.workload.chain()) return Keep(std::move(node));
    if (semantics::IsQuantise(node.workload)) return ConvertQuantise(std::move(node));
    HONE_ASSIGN_OR_RETURN(const std::optional<Layer> layer, AsLayer(node));
    if (layer) return AddSums(std::move(node), *layer);
    return ConvertMovement(std::move(node));
  }

  Status Keep(Node node) {
    places_[node.name] = done_.size();
    done_.push_back(std::move(node));
    return Status();
  }

  Status CheckScale(const Node& node) const {
    const auto scales = ValuesOf(node.inputs[1]);
    if (!scales ||
        std::ranges::all_of(*scales, [](double scale) { return semantics::IsScale(static_cast<float>(scale)); })) {
      return Status();
    }
    return Status::Invalid("its scale is not a positive normal number");
  }

  // Null for a tensor that the network computes, and for a parameter of unknown values.
  std::optional<std::vector<double>> ValuesOf(const std::string& name) const {
    const auto parameter = parameters_.find(name);
    if (parameter == parameters_.end()) return std::nullopt;
    if (parameter->second.init.kind == InitKind::kValues) return parameter->second.init.values;
    const auto found = values_->find(name);
    return found == values_->end() ? std::nullopt : std::optional(found->second.Doubles());
  }

  // The tensor of bytes in a `quantise`'s output or a `dequantise`'s input `name`.
  std::optional<ByteTensor> BytesOf(const Node& conversion, const std::string& name) const {
    const auto scale = ValuesOf(conversion.inputs[1]), zero = ValuesOf(conversion.inputs[2]);
    const DType type = conversion.workload.inputs[2].type;
    if (!scale || !zero || scale->size() != 1 || zero->size() != 1 || type.bits != 8 ||
        !conversion.workload.epilogue.empty()) {
      return std::nullopt;
    }
    return ByteTensor{name,
                      type,
                      static_cast<float>((*scale)[0]),
                      static_cast<int32_t>((*zero)[0]),
                      conversion.inputs[1],
                      conversion.inputs[2]};
  }

  bool SameGrid(const ByteTensor& a, const ByteTensor& b) const {
    if (a.type != b.type) return false;
    if (a.scale_parameter == b.scale_parameter && a.zero_parameter == b.zero_parameter) return true;
    return same_ == SameGrids::kByValue && a.scale == b.scale && a.zero == b.zero;
  }

  const Node* Maker(const std::string& tensor) const {
    const auto place = places_.find(tensor);
    return place == places_.end() ? nullptr : &done_[place->second];
  }

  // The bytes whose dequantised values `tensor` has.
  std::optional<ByteTensor> Dequantised(const std::string& tensor) const {
    const Node* maker = Maker(tensor);
    if (maker == nullptr || maker->workload.chain() || !semantics::IsDequantise(maker->workload)) return std::nullopt;
    return BytesOf(*maker, maker->inputs[0]);
  }

  std::string Fresh(const std::string& hint) {
    std::string name = hint;
    for (int i = 1; !names_.insert(name).second; ++i) name = hint + std::to_string(i);
    return name;
  }

  std::string AddParameter(const std::string& hint, TensorType type, const std::vector<double>& values) {
    return AddParameter(hint, TensorData(std::move(type), values));
  }
  std::string AddParameter(const std::string& hint, TensorData values) {
    Parameter p{Fresh(hint), values.type, {.kind = InitKind::kFile}};
    values_->emplace(p.name, std::move(values));
    parameters_[p.name] = p;
    graph_->parameters.push_back(p);
    return p.name;
  }

  Status AddNode(const std::string& name, Workload workload, std::vector<std::string> inputs) {
    HONE_ASSIGN_OR_RETURN(TensorType output, semantics::InferOutput(workload));
    return Keep({name, std::move(workload), std::move(inputs), std::move(output)});
  }

  Status CheckGrid(const std::string& weight, const Grid& grid) const {
    const auto channels = static_cast<size_t>(parameters_.at(weight).type.shape[0]);
    const size_t count = grid.scales.size();
    if (grid.type.bits != 8 || grid.type.is_float() || grid.zeros.size() != count ||
        (count != 1 && count != channels)) {
      return Status::Invalid("the grid of its weight `{}` has {} scales and {} zero points of {}, for {} channels",
                             weight, count, grid.zeros.size(), ToString(grid.type), channels);
    }
    if (std::ranges::all_of(grid.scales, semantics::IsScale)) return Status();
    return Status::Invalid("a scale of its weight `{}` is not a positive normal number", weight);
  }

  // The weight on its grid as i8, and below 128 for u8.
  std::string ByteWeight(const std::string& weight, const Grid& grid) {
    const auto [found, added] = byte_weights_.emplace(weight, "");
    if (!added) return found->second;
    const int least = semantics::LimitsOf(grid.type).first;
    TensorData bytes({DType::Int(8), parameters_.at(weight).type.shape});
    const std::span<const float> from = std::as_const(values_->at(weight)).as<float>();
    const std::span<int8_t> to = bytes.as<int8_t>();
    const size_t inner = from.size() / static_cast<size_t>(bytes.type.shape[0]);
    for (size_t i = 0; i < from.size(); ++i) {
      to[i] = static_cast<int8_t>(grid.IntegerFor(static_cast<double>(from[i]), i / inner) - 128 - least);
    }
    return found->second = AddParameter(weight + ".i8", std::move(bytes));
  }

  // Nothing if the node is to stay as it is.
  Result<std::optional<Layer>> AsLayer(const Node& node) {
    const Workload& w = node.workload;
    std::optional<Layer> nothing;
    if (!semantics::DefinitionOf(w).layer || w.inputs.size() != 2) return nothing;
    const auto grid = weights_.find(node.inputs[1]);
    const auto data = Dequantised(node.inputs[0]);
    if (grid == weights_.end() || !data || !values_->contains(node.inputs[1])) return nothing;
    HONE_RETURN_IF_ERROR(CheckGrid(grid->first, grid->second));
    const Grid& g = grid->second;

    Layer layer;
    layer.sums = {w.op, {w.inputs[0], w.inputs[1], {data->type, {1}}}, w.attributes, {}};
    layer.sums.inputs[0].type = data->type, layer.sums.inputs[1].type = DType::Int(8);
    std::vector<double> zeros;
    for (const int32_t zero : g.zeros) zeros.push_back(g.type.is_int() ? zero : zero - 128);
    const bool weight_zeros = std::ranges::any_of(zeros, [](double zero) { return zero != 0; });
    if (weight_zeros) layer.sums.inputs.push_back({DType::Int(8), {std::ssize(zeros)}});
    if (!semantics::InferOutput(layer.sums).ok()) return nothing;  // not on integers, or sums too long

    const auto channels = static_cast<size_t>(w.inputs[1].shape[0]);
    for (size_t c = 0; c < channels; ++c) {
      layer.scales.push_back(data->scale * g.scales[g.scales.size() == 1 ? 0 : c]);
      if (!semantics::IsScale(layer.scales.back())) return nothing;
    }
    std::optional<std::vector<double>> bias;
    for (size_t i = 0, next = 2; i < w.epilogue.size(); ++i) {
      const EpilogueOp& e = w.epilogue[i];
      if (e.kind == EpilogueKind::kBias) {
        if (i != 0 || !(bias = ValuesOf(node.inputs[next++]))) return nothing;
        layer.sums.epilogue.push_back(e);
        continue;
      }
      if (e.kind == EpilogueKind::kAdd) layer.residual = node.inputs[next++];
      layer.rest.push_back(e);
    }
    for (size_t c = 0; bias && c < channels; ++c) {
      const double scale =
          static_cast<double>(data->scale) * static_cast<double>(g.scales[g.scales.size() == 1 ? 0 : c]);
      (*bias)[c] = std::nearbyint((*bias)[c] / scale);
      if (!(std::fabs((*bias)[c]) <= kMostBias)) return nothing;
    }
    layer.operands = {data->name, ByteWeight(grid->first, g), data->zero_parameter};
    if (weight_zeros) {
      layer.operands.push_back(AddParameter(node.name + ".weight_zero", layer.sums.inputs[3], zeros));
    }
    if (bias) {
      const TensorType type{DType::Int(32), {static_cast<int64_t>(channels)}};
      layer.operands.push_back(AddParameter(node.name + ".bias", type, *bias));
    }
    return std::optional(std::move(layer));
  }

  // The sums, dequantised, and the rest of the epilogue as nodes of their own.
  Status AddSums(Node node, const Layer& layer) {
    layers_[node.name] = layer;
    const std::string sums = Fresh(node.name + ".sums");
    HONE_RETURN_IF_ERROR(AddNode(sums, layer.sums, layer.operands));
    const TensorType type = done_.back().output;
    TensorType scale{DType::Float(32), {type.shape.begin() + 1, type.shape.end()}};
    std::fill(scale.shape.begin() + 1, scale.shape.end(), 1);
    const std::string scales = AddParameter(node.name + ".scale", scale, {layer.scales.begin(), layer.scales.end()});
    const std::string zero = AddParameter(node.name + ".zero", {type.type, {1}}, {0});
    std::string last = layer.rest.empty() ? node.name : Fresh(node.name + ".real");
    HONE_RETURN_IF_ERROR(AddNode(last, {"dequantise", {type, scale, {type.type, {1}}}, {}, {}}, {sums, scales, zero}));
    for (size_t i = 0; i < layer.rest.size(); ++i) {
      const EpilogueOp& e = layer.rest[i];
      const TensorType real = done_.back().output;
      const std::string name = i + 1 == layer.rest.size() ? node.name : Fresh(node.name + ".real");
      const bool adds = e.kind == EpilogueKind::kAdd;
      std::vector<std::string> inputs = {last};
      if (adds) inputs.push_back(layer.residual);
      HONE_RETURN_IF_ERROR(AddNode(name, semantics::AsOperator(e, real), inputs));
      last = name;
    }
    return Status();
  }

  Status ConvertQuantise(Node node) {
    const auto to = BytesOf(node, node.name);
    if (!to) return Keep(std::move(node));
    const auto from = Dequantised(node.inputs[0]);
    if (from && SameGrid(*from, *to) && !outputs_.contains(node.name)) {
      renamed_[node.name] = from->name;
      return Status();
    }
    HONE_ASSIGN_OR_RETURN(const bool between, RequantiseBytes(node, *to));
    if (between) return Status();
    if (!IsReadOnce(node.inputs[0])) return Keep(std::move(node));
    HONE_ASSIGN_OR_RETURN(const bool joined, ConcatenateBytes(node, *to));
    if (joined) return Status();
    if (const auto layer = layers_.find(node.inputs[0]); layer != layers_.end()) {
      HONE_ASSIGN_OR_RETURN(const bool done, Requantise(node.name, layer->second, *to));
      if (done) return Status();
    }
    // An average of bytes is on their grid.
    const Node* maker = Maker(node.inputs[0]);
    if (maker != nullptr && maker->workload.epilogue.empty() && maker->inputs.size() == 1) {
      const auto from = Dequantised(maker->inputs[0]);
      Workload bytes = maker->workload;
      bytes.inputs[0].type = to->type;
      bytes.inputs.push_back({to->type, {1}});
      if (from && SameGrid(*from, *to) && !semantics::DefinitionOf(maker->workload).selects &&
          semantics::InferOutput(bytes).ok()) {
        return AddNode(node.name, std::move(bytes), {from->name, from->zero_parameter});
      }
    }
    return Keep(std::move(node));
  }

  // Only one node reads it.
  bool IsReadOnce(const std::string& tensor) { return !outputs_.contains(tensor) && reads_[tensor] == 1; }

  // A dequantised tensor or the sum of two, perhaps with an activation, becomes `requantise` to `to`; else returns
  // false.
  Result<bool> RequantiseBytes(const Node& quantise, const ByteTensor& to) {
    std::string tensor = quantise.inputs[0];
    std::vector<EpilogueOp> activation;
    const Node* maker = Maker(tensor);
    const auto operation = [&] {
      return maker == nullptr || maker->workload.chain() ? std::nullopt : semantics::AsEpilogue(maker->workload);
    };
    if (const auto op = operation(); op && semantics::IsActivation(*op) && IsReadOnce(tensor)) {
      activation.push_back(*op);
      tensor = maker->inputs[0];
      maker = Maker(tensor);
    }
    std::vector<std::string> names = {tensor};
    const bool adds = maker != nullptr && maker->workload.op == "add" && maker->workload.epilogue.empty();
    if (adds && IsReadOnce(tensor)) names = maker->inputs;
    std::vector<ByteTensor> terms;
    for (const std::string& name : names) {
      const auto bytes = Dequantised(name);
      if (!bytes) return false;
      terms.push_back(*bytes);
    }
    double least = 0, most = 0;
    if (!Limits(activation, to, &least, &most)) return false;
    HONE_RETURN_IF_ERROR(AddRequantise(quantise.name, terms, to, least, most));
    return true;
  }

  Status AddRequantise(const std::string& name, const std::vector<ByteTensor>& terms, const ByteTensor& to,
                       double least, double most) {
    Workload w{"requantise", {}, {}, {}};
    std::vector<std::string> operands;
    const bool shifts = rescaling_ == Rescaling::kShift;
    for (const ByteTensor& bytes : terms) {
      const TensorType factor{shifts ? DType::Int(32) : DType::Float(32), {1}}, zero{bytes.type, {1}};
      w.inputs.insert(w.inputs.end(), {*TypeOf(bytes.name), factor, zero});
      HONE_ASSIGN_OR_RETURN(const double scale, shifts ? Exponent(bytes.scale, to) : Ratio(bytes.scale, to));
      // The sum of two is exact within this range alone.
      if (shifts && terms.size() > 1 && (scale < semantics::kLeastExponent || scale > semantics::kMostExponent)) {
        return Status::Invalid("the scales {} and {} of a sum are too far apart; keep its node in floats", to.scale,
                               bytes.scale);
      }
      operands.insert(operands.end(),
                      {bytes.name, AddParameter(name + ".scale", factor, {scale}), bytes.zero_parameter});
    }
    const TensorType limit{to.type, {1}};
    w.inputs.insert(w.inputs.end(), {limit, limit, limit});
    operands.insert(operands.end(), {to.zero_parameter, AddParameter(name + ".least", limit, {least}),
                                     AddParameter(name + ".most", limit, {most})});
    return AddNode(name, std::move(w), std::move(operands));
  }

  // A concatenation of dequantised tensors, of any grids, becomes one of bytes on `to`.
  Result<bool> ConcatenateBytes(const Node& quantise, const ByteTensor& to) {
    const Node* maker = Maker(quantise.inputs[0]);
    if (maker == nullptr || maker->workload.chain() || !semantics::DefinitionOf(maker->workload).concatenates)
      return false;
    Workload w = maker->workload;
    std::vector<ByteTensor> parts;
    for (const std::string& input : maker->inputs) {
      const auto part = Dequantised(input);
      if (!part) return false;
      parts.push_back(*part);
    }
    const auto [low, high] = semantics::LimitsOf(to.type);
    std::vector<std::string> operands;
    for (size_t i = 0; i < parts.size(); ++i) {
      w.inputs[i].type = to.type;
      operands.push_back(SameGrid(parts[i], to) ? parts[i].name : Fresh(quantise.name + ".part"));
      if (!SameGrid(parts[i], to)) HONE_RETURN_IF_ERROR(AddRequantise(operands.back(), {parts[i]}, to, low, high));
    }
    HONE_RETURN_IF_ERROR(AddNode(quantise.name, std::move(w), std::move(operands)));
    return true;
  }

  const TensorType* TypeOf(const std::string& tensor) const {
    const Node* maker = Maker(tensor);
    return maker != nullptr ? &maker->output : graph_->FindType(tensor);
  }

  static Result<double> Ratio(float scale, const ByteTensor& to) {
    const float ratio = scale / to.scale;
    if (std::isfinite(ratio)) return static_cast<double>(ratio);
    return Status::Invalid("its scale {} and {}, the scale of its input, are too far apart", to.scale, scale);
  }

  static Result<double> Exponent(float scale, const ByteTensor& to) {
    HONE_ASSIGN_OR_RETURN(const int bits, BitsBetween(to.scale, scale));
    return static_cast<double>(bits);
  }

  // The limits of values on `to` behind the activations; false if there is another operation.
  static bool Limits(const std::vector<EpilogueOp>& activations, const ByteTensor& to, double* least, double* most) {
    const auto [low, high] = semantics::LimitsOf(to.type);
    *least = low, *most = high;
    const auto limit = [&](double value) {
      const float quotient = static_cast<float>(value) / to.scale;
      return Rounded(std::nearbyint(static_cast<double>(quotient)) + to.zero, low, high);
    };
    for (const EpilogueOp& e : activations) {
      if (!semantics::IsActivation(e)) return false;
      const bool clip = e.kind == EpilogueKind::kClip;
      *least = std::max(*least, limit(clip ? e.low : 0));
      if (e.kind != EpilogueKind::kRelu) *most = std::min(*most, limit(clip ? e.high : 6));
    }
    return *least <= *most;
  }

  // Adds the layer with `requant` or `shift` to `to`; returns false if it has no such form.
  Result<bool> Requantise(const std::string& name, const Layer& layer, const ByteTensor& to) {
    Workload w = layer.sums;
    std::vector<std::string> operands = layer.operands;
    std::vector<EpilogueOp> activations = layer.rest;
    const bool shifts = rescaling_ == Rescaling::kShift;
    std::optional<ByteTensor> residual;
    if (!activations.empty() && activations[0].kind == EpilogueKind::kAdd) {
      activations.erase(activations.begin());
      residual = Dequantised(layer.residual);
      if (!residual) return false;
      w.epilogue.push_back({EpilogueKind::kAdd, 0, 0, residual->type});
      operands.push_back(residual->name);
    }
    if (residual && !shifts) {
      HONE_ASSIGN_OR_RETURN(const double scale, Ratio(residual->scale, to));
      operands.push_back(AddParameter(name + ".residual_scale", {DType::Float(32), {1}}, {scale}));
      operands.push_back(residual->zero_parameter);
    }
    double least = 0, most = 0;
    if (!Limits(activations, to, &least, &most)) return false;
    if (shifts) {
      HONE_RETURN_IF_ERROR(AddShifts(name, layer, residual, to, &operands));
      operands.push_back(AddParameter(name + ".limits", {to.type, {2}}, {least, most}));
    } else {
      std::vector<double> multipliers;
      for (const float scale : layer.scales) {
        HONE_ASSIGN_OR_RETURN(multipliers.emplace_back(), Ratio(scale, to));
      }
      const TensorType channels{DType::Float(32), {std::ssize(multipliers)}};
      operands.push_back(AddParameter(name + ".multiplier", channels, multipliers));
      operands.push_back(AddParameter(name + ".limits", {to.type, {3}}, {double(to.zero), least, most}));
    }
    w.epilogue.push_back({shifts ? EpilogueKind::kShift : EpilogueKind::kRequant, 0, 0, to.type});
    HONE_RETURN_IF_ERROR(AddNode(name, std::move(w), std::move(operands)));
    return true;
  }

  // Adds the shifts of the residual, if there is one, and of the sums.
  Status AddShifts(const std::string& name, const Layer& layer, const std::optional<ByteTensor>& residual,
                   const ByteTensor& to, std::vector<std::string>* operands) {
    if (to.zero != 0 || (residual && residual->zero != 0)) {
      return Status::Invalid("its output or residual has a zero point other than 0, as shifts do not have");
    }
    std::optional<ShiftedResidual> added;
    if (residual) added = {residual->scale, residual->type};
    HONE_ASSIGN_OR_RETURN(const Shifts shifts, ChooseShifts(layer.scales, LargestSums(layer), added, to.scale));
    const TensorType channels{DType::Int(32), {std::ssize(shifts.sums)}};
    if (residual) operands->push_back(AddParameter(name + ".residual_shift", channels, shifts.residual));
    operands->push_back(AddParameter(name + ".shift", channels, shifts.sums));
    return Status();
  }

  // The largest magnitude of each channel's sums with any data.
  std::vector<double> LargestSums(const Layer& layer) const {
    const auto weights = std::as_const(values_->at(layer.operands[1])).as<int8_t>();
    const auto zero_of = [&](size_t operand) { return *ValuesOf(layer.operands[operand]); };
    const bool weight_zeros = layer.sums.inputs.size() > 3;
    const std::vector<double> zeros = weight_zeros ? zero_of(3) : std::vector<double>{0};
    const auto [least, most] = semantics::LimitsOf(layer.sums.inputs[0].type);
    const double zero = zero_of(2)[0], data = std::max(most - zero, zero - least);
    const size_t channels = layer.scales.size(), each = weights.size() / channels;
    std::vector<double> sums(channels);
    for (size_t c = 0; c < channels; ++c) {
      for (const int8_t weight : weights.subspan(c * each, each)) {
        sums[c] += data * std::fabs(weight - zeros[zeros.size() == 1 ? 0 : c]);
      }
    }
    if (layer.sums.epilogue.empty()) return sums;
    const std::vector<double> bias = *ValuesOf(layer.operands.back());
    for (size_t c = 0; c < channels; ++c) sums[c] += std::fabs(bias[c]);
    return sums;
  }

  // Moves `dequantise` behind an operator that moves elements or takes maxima.
  Status ConvertMovement(Node node) {
    const Workload& w = node.workload;
    if (!semantics::DefinitionOf(w).selects || !w.epilogue.empty() || node.inputs.empty()) return Keep(std::move(node));
    const auto first = Dequantised(node.inputs[0]);
    if (!first) return Keep(std::move(node));
    Workload bytes = w;
    std::vector<std::string> operands;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto data = Dequantised(node.inputs[i]);
      if (!data || !SameGrid(*data, *first)) return Keep(std::move(node));
      bytes.inputs[i].type = data->type;
      operands.push_back(data->name);
    }
    const std::string moved = Fresh(node.name + ".bytes");
    HONE_RETURN_IF_ERROR(AddNode(moved, std::move(bytes), std::move(operands)));
    Workload back{"dequantise", {done_.back().output, {DType::Float(32), {1}}, {first->type, {1}}}, {}, {}};
    return AddNode(node.name, std::move(back), {moved, first->scale_parameter, first->zero_parameter});
  }

  const WeightGrids& weights_;
  const SameGrids same_;
  const Rescaling rescaling_;
  Graph* graph_;
  ParameterValues* values_;
  std::map<std::string, int> reads_;
  std::set<std::string> outputs_, names_;
  std::map<std::string, Parameter> parameters_;
  std::vector<Node> done_;
  std::map<std::string, size_t> places_;        // in done_
  std::map<std::string, std::string> renamed_;  // nodes that are gone
  std::map<std::string, std::string> byte_weights_;
  std::map<std::string, Layer> layers_;  // by the float tensor that they make
};

}  // namespace

double Grid::IntegerFor(double x, size_t channel) const {
  const size_t i = scales.size() == 1 ? 0 : channel;
  const auto [least, most] = semantics::LimitsOf(type);
  return Rounded(std::nearbyint(x / static_cast<double>(scales[i])) + zeros[i], least, most);
}

Status UseIntegers(const WeightGrids& weights, SameGrids same, Graph* graph, ParameterValues* values,
                   Rescaling rescaling) {
  return Converter(weights, same, rescaling, graph, values).Run();
}

}  // namespace hone::graph
