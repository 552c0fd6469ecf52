#include "onnx/write_model.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/version.h"
#include "semantics/quantise.h"
#include "semantics/semantics.h"
#include "semantics/window.h"

namespace hone::onnx {
namespace {

namespace pb = ::onnx;
using graph::Graph;
using graph::Node;

// Operators with the same operands, and no attributes or those of these names.
struct Plain {
  const char* hone;
  const char* onnx;
  std::vector<const char*> reals = {};  // attributes, by name
};
const Plain kPlain[] = {
    {"relu", "Relu"},
    {"sigmoid", "Sigmoid"},
    {"tanh", "Tanh"},
    {"exp", "Exp"},
    {"sqrt", "Sqrt"},
    {"log", "Log"},
    {"abs", "Abs"},
    {"neg", "Neg"},
    {"reciprocal", "Reciprocal"},
    {"erf", "Erf"},
    {"identity", "Identity"},
    {"softplus", "Softplus"},
    {"softsign", "Softsign"},
    {"hard_swish", "HardSwish"},
    {"leaky_relu", "LeakyRelu", {"alpha"}},
    {"elu", "Elu", {"alpha"}},
    {"celu", "Celu", {"alpha"}},
    {"selu", "Selu", {"alpha", "gamma"}},
    {"hard_sigmoid", "HardSigmoid", {"alpha", "beta"}},
    {"thresholded_relu", "ThresholdedRelu", {"alpha"}},
    {"add", "Add"},
    {"sub", "Sub"},
    {"mul", "Mul"},
    {"div", "Div"},
    {"pow", "Pow"},
    {"min", "Min"},
    {"max", "Max"},
    {"prelu", "PRelu"},
    {"matmul", "MatMul"},
    {"global_avg_pool", "GlobalAveragePool"},
    {"global_max_pool", "GlobalMaxPool"},
    {"flatten", "Flatten"},
};

int TypeOf(DType type) {
  if (type == DType::Float(32)) return pb::TensorProto::FLOAT;
  if (type == DType::UInt(8)) return pb::TensorProto::UINT8;
  if (type == DType::Int(8)) return pb::TensorProto::INT8;
  return type == DType::Int(64) ? pb::TensorProto::INT64 : pb::TensorProto::INT32;
}

class Writer {
 public:
  Writer(const Graph& graph, const graph::WeightGrids& weights, const graph::ParameterValues& values)
      : graph_(graph), weights_(weights), values_(values), out_(model_.mutable_graph()) {
    for (const auto& input : graph.inputs) names_.insert(input.name);
    for (const auto& parameter : graph.parameters) names_.insert(parameter.name);
    for (const Node& node : graph.nodes) names_.insert(node.name);
  }

  Result<std::string> Write() {
    model_.set_ir_version(8);
    model_.set_producer_name("Hone");
    model_.set_producer_version(kVersion);
    model_.add_opset_import()->set_version(17);
    out_->set_name(graph_.name);
    for (const auto& input : graph_.inputs) Describe(out_->add_input(), input.name, input.type);
    for (const Node& node : graph_.nodes) HONE_RETURN_IF_ERROR(AddNode(node));
    for (const std::string& output : graph_.outputs) Describe(out_->add_output(), output, *graph_.FindType(output));
    if (model_.ByteSizeLong() > std::numeric_limits<int32_t>::max()) {
      return Status::Unsupported("{}: the ONNX model would exceed 2 GiB, the most that one file can hold", graph_.name);
    }
    return model_.SerializeAsString();
  }

 private:
  static void Describe(pb::ValueInfoProto* info, const std::string& name, const TensorType& type) {
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(TypeOf(type.type));
    tensor->mutable_shape();
    for (const int64_t extent : type.shape) tensor->mutable_shape()->add_dim()->set_dim_value(extent);
  }

  std::string Fresh(std::string name) {
    while (!names_.insert(name).second) name += "_";
    return name;
  }

  // Returns its name.
  std::string Constant(const std::string& name, const TensorData& data) {
    if (!written_.insert(name).second) return name;
    pb::TensorProto* tensor = out_->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(TypeOf(data.type.type));
    for (const int64_t extent : data.type.shape) tensor->add_dims(extent);
    tensor->set_raw_data(data.bytes.data(), data.bytes.size());
    return name;
  }
  std::string Integers(const std::string& hint, const std::vector<int64_t>& values) {
    const TensorType type{DType::Int(64), {static_cast<int64_t>(values.size())}};
    return Constant(Fresh(hint), TensorData(type, {values.begin(), values.end()}));
  }
  std::string Number(const std::string& hint, double value) {
    return Constant(Fresh(hint), TensorData(TensorType{DType::Float(32), {}}, {value}));
  }

  // An operand by name; a parameter becomes a constant.
  std::string Operand(const std::string& name) {
    const auto found = values_.find(name);
    return found == values_.end() || graph_.FindParameter(name) == nullptr ? name : Constant(name, found->second);
  }
  // A scale or zero point, which is a scalar in ONNX.
  std::string Scalar(const std::string& name) {
    TensorData data = values_.at(name);
    data.type.shape.clear();
    return Constant(name, data);
  }

  pb::NodeProto* Emit(const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
    pb::NodeProto* node = out_->add_node();
    node->set_op_type(op);
    node->set_name(output);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
    return node;
  }
  static pb::AttributeProto* Attribute(pb::NodeProto* node, const std::string& name,
                                       pb::AttributeProto::AttributeType type) {
    pb::AttributeProto* attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return attribute;
  }
  static void Set(pb::NodeProto* node, const std::string& name, int64_t value) {
    Attribute(node, name, pb::AttributeProto::INT)->set_i(value);
  }
  static void SetReal(pb::NodeProto* node, const std::string& name, double value) {
    Attribute(node, name, pb::AttributeProto::FLOAT)->set_f(static_cast<float>(value));
  }
  static void Set(pb::NodeProto* node, const std::string& name, const std::vector<int64_t>& values) {
    auto* attribute = Attribute(node, name, pb::AttributeProto::INTS);
    for (const int64_t value : values) attribute->add_ints(value);
  }

  // Integers of a layer's weight or bias behind DequantizeLinear. Returns the name of the floats.
  std::string Dequantised(const std::string& name, DType type, const std::vector<int64_t>& shape,
                          const std::vector<double>& integers, const std::vector<double>& scales) {
    const TensorType each{DType::Float(32),
                          scales.size() == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{std::ssize(scales)}};
    const TensorType zero{type, each.shape};
    const std::string floats = Fresh(name + ".dequantised");
    pb::NodeProto* node = Emit(
        "DequantizeLinear",
        {Constant(Fresh(name + ".quantised"), TensorData({type, shape}, integers)),
         Constant(Fresh(name + ".scale"), TensorData(each, scales)), Constant(Fresh(name + ".zero"), TensorData(zero))},
        floats);
    if (scales.size() > 1) Set(node, "axis", int64_t{0});
    return floats;
  }

  // Weight and, if it has one, bias of a layer, as the operands that ONNX's operator reads.
  std::vector<std::string> Constants(const Node& node) {
    const bool biased = node.workload.HasEpilogue(EpilogueKind::kBias);
    const auto grid = weights_.find(node.inputs[1]);
    const Node* data = graph_.FindNode(node.inputs[0]);
    if (grid == weights_.end() || data == nullptr || !semantics::IsDequantise(data->workload)) {
      std::vector<std::string> operands = {Operand(node.inputs[1])};
      if (biased) operands.push_back(Operand(node.inputs[2]));
      return operands;
    }
    const TensorData& weight = values_.at(node.inputs[1]);
    const auto channels = static_cast<size_t>(weight.type.shape[0]);
    std::vector<double> integers = weight.Doubles(), scales, sums;
    const double data_scale = values_.at(data->inputs[1]).Doubles()[0];
    for (size_t c = 0; c < channels; ++c) {
      const auto scale = static_cast<double>(grid->second.scales[grid->second.scales.size() == 1 ? 0 : c]);
      if (c < grid->second.scales.size()) scales.push_back(scale);
      sums.push_back(data_scale * scale);
    }
    const size_t each = integers.size() / channels;
    for (size_t i = 0; i < integers.size(); ++i) integers[i] = grid->second.IntegerFor(integers[i], i / each);
    std::vector<std::string> operands;
    operands.push_back(Dequantised(node.inputs[1], DType::Int(8), weight.type.shape, integers, scales));
    if (!biased) return operands;
    std::vector<double> bias = values_.at(node.inputs[2]).Doubles();
    for (size_t c = 0; c < channels; ++c) bias[c] = std::nearbyint(bias[c] / sums[c]);
    operands.push_back(Dequantised(node.inputs[2], DType::Int(32), {std::ssize(bias)}, bias, sums));
    return operands;
  }

  Status SetWindow(const Node& node, pb::NodeProto* out) {
    HONE_ASSIGN_OR_RETURN(const semantics::Window window, semantics::WindowOf(node.workload));
    std::vector<int64_t> pads = window.before;
    pads.insert(pads.end(), window.after.begin(), window.after.end());
    Set(out, "kernel_shape", window.kernel);
    Set(out, "strides", window.stride);
    const bool dilated = std::ranges::any_of(window.dilation, [](int64_t d) { return d != 1; });
    // AveragePool has none before opset 19.
    if (dilated && out->op_type() == "AveragePool") return Unknown(node);
    if (dilated) Set(out, "dilations", window.dilation);
    Set(out, "pads", pads);
    return Status();
  }

  void Clip(const std::string& data, double low, double high, const std::string& output) {
    const std::string least = std::isinf(low) ? "" : Number(output + ".low", low);
    const std::string most = std::isinf(high) ? "" : Number(output + ".high", high);
    Emit("Clip", {data, least, most}, output);
  }

  // By Erf, as other programs export it: not all engines know an operator Gelu.
  void Gelu(const std::string& data, const std::string& output) {
    const std::string scaled = Fresh(output + ".scaled"), erf = Fresh(output + ".erf");
    const std::string shifted = Fresh(output + ".shifted"), twice = Fresh(output + ".twice");
    Emit("Div", {data, Number(output + ".root", std::sqrt(2.0))}, scaled);
    Emit("Erf", {scaled}, erf);
    Emit("Add", {erf, Number(output + ".one", 1)}, shifted);
    Emit("Mul", {data, shifted}, twice);
    Emit("Mul", {twice, Number(output + ".half", 0.5)}, output);
  }

  Status AddNode(const Node& node) {
    const Workload& w = node.workload;
    if (w.chain()) return Unknown(node);
    size_t next = w.inputs.size();  // the epilogue's operands
    std::vector<EpilogueOp> rest = w.epilogue;
    const bool layer = semantics::DefinitionOf(w).layer;
    std::vector<std::string> operands;
    if (layer) {
      operands = Constants(node);
      operands.insert(operands.begin(), node.inputs[0]);
      if (operands.size() == 3) rest.erase(rest.begin()), ++next;
    }
    std::string at = rest.empty() ? node.name : Fresh(node.name + ".anchor");
    HONE_RETURN_IF_ERROR(AddAnchor(node, layer ? operands : std::vector<std::string>(), at));
    for (size_t i = 0; i < rest.size(); ++i) {
      const std::string name = i + 1 == rest.size() ? node.name : Fresh(node.name + ".part");
      switch (rest[i].kind) {
        case EpilogueKind::kAdd:
          Emit("Add", {at, Operand(node.inputs[next++])}, name);
          break;
        case EpilogueKind::kRelu:
          Emit("Relu", {at}, name);
          break;
        case EpilogueKind::kRelu6:
          Clip(at, 0, 6, name);
          break;
        case EpilogueKind::kClip:
          Clip(at, rest[i].low, rest[i].high, name);
          break;
        default:
          return Unknown(node);
      }
      at = name;
    }
    return Status();
  }

  Status AddAnchor(const Node& node, std::vector<std::string> operands, const std::string& output) {
    const Workload& w = node.workload;
    if (semantics::IsQuantise(w) || semantics::IsDequantise(w)) {
      Emit(semantics::IsQuantise(w) ? "QuantizeLinear" : "DequantizeLinear",
           {node.inputs[0], Scalar(node.inputs[1]), Scalar(node.inputs[2])}, output);
      return Status();
    }
    if (w.op == "conv2d" || w.op == "conv3d") {
      pb::NodeProto* out = Emit("Conv", operands, output);
      Set(out, "group", semantics::Whole(w, "groups", 1));
      return SetWindow(node, out);
    }
    if (w.op == "dense") {
      Set(Emit("Gemm", operands, output), "transB", int64_t{1});
      return Status();
    }
    if (!operands.empty()) return Unknown(node);  // another kind of layer
    for (size_t i = 0; i < w.inputs.size(); ++i) operands.push_back(Operand(node.inputs[i]));
    const auto plain = std::ranges::find(kPlain, w.op, &Plain::hone);
    if (plain != std::end(kPlain)) {
      pb::NodeProto* out = Emit(plain->onnx, operands, output);
      for (const char* name : plain->reals) {
        if (w.Find(name) != nullptr) SetReal(out, name, semantics::Real(w, name, 0));
      }
      return Status();
    }
    if (w.op.starts_with("max_pool") || w.op.starts_with("avg_pool")) {
      const bool average = w.op[0] == 'a';
      pb::NodeProto* out = Emit(average ? "AveragePool" : "MaxPool", operands, output);
      Set(out, "ceil_mode", semantics::Whole(w, "ceil_mode", 0));
      if (average) Set(out, "count_include_pad", semantics::Whole(w, "count_include_pad", 0));
      return SetWindow(node, out);
    }
    if (w.op == "concat") {
      Set(Emit("Concat", operands, output), "axis", semantics::Whole(w, "axis", 1));
    } else if (w.op == "transpose") {
      Set(Emit("Transpose", operands, output), "perm", w.Numbers("perm", {}));
    } else if (w.op == "reshape") {
      operands.push_back(Integers(output + ".shape", node.output.shape));
      Emit("Reshape", operands, output);
    } else if (w.op == "softmax" || w.op == "log_softmax") {
      Set(Emit(w.op == "softmax" ? "Softmax" : "LogSoftmax", operands, output), "axis",
          semantics::Whole(w, "axis", -1));
    } else if (w.op == "layer_norm") {
      pb::NodeProto* out = Emit("LayerNormalization", operands, output);
      Set(out, "axis", semantics::Whole(w, "axis", -1));
      SetReal(out, "epsilon", semantics::Real(w, "epsilon", 1e-5));
    } else if (w.op == "relu6" || w.op == "clip") {
      const double infinity = std::numeric_limits<double>::infinity();
      Clip(operands[0], w.op == "relu6" ? 0 : semantics::Real(w, "low", -infinity),
           w.op == "relu6" ? 6 : semantics::Real(w, "high", infinity), output);
    } else if (w.op == "gelu" && w.Find("approximate") == nullptr) {
      Gelu(operands[0], output);
    } else {
      return Unknown(node);
    }
    return Status();
  }

  static Status Unknown(const Node& node) {
    return Status::Unsupported("--onnx: node `{}`: `{}` cannot be written as ONNX; leave --onnx out", node.name,
                               node.workload.OperatorText());
  }

  const Graph& graph_;
  const graph::WeightGrids& weights_;
  const graph::ParameterValues& values_;
  pb::ModelProto model_;
  pb::GraphProto* out_;
  std::set<std::string> names_, written_;
};

}  // namespace

Result<std::string> OnnxModel(const Graph& graph, const graph::WeightGrids& weights,
                              const graph::ParameterValues& values) {
  return Writer(graph, weights, values).Write();
}

}  // namespace hone::onnx
