#include "onnx/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "semantics/semantics.h"

namespace hone::onnx {

// Limit of multiplications per allowed element of constants: above it, a constant is not computed here. Real exporters
// leave far less to do.
constexpr double kFoldWork = 4;

// Moves elements of any type as `definition` says.
static Result<Tensor> MoveElements(const semantics::Definition& definition, const graph::Node& node,
                                   const std::vector<Value>& operands) {
  Tensor out(operands[0].constant->type, node.output.shape);
  for (const Value& operand : operands) {
    if (IsFloating(operand.constant->type) != IsFloating(out.type)) {
      return Status::Invalid("its inputs are of different types");
    }
  }
  const double padding = semantics::Real(node.workload, "value", 0);
  size_t at = 0;
  definition.sources(node.workload, node.output.shape, [&](size_t operand, int64_t element) {
    if (element == semantics::kNoSource) {
      out.Set(at++, padding);
    } else {
      out.Copy(at++, *operands[operand].constant, static_cast<size_t>(element));
    }
  });
  // Weights of dense layers are transposed.
  const auto& grid = operands[0].constant->grid;
  if (const Attribute* perm = node.workload.Find("perm"); grid && definition.name == "transpose" && perm != nullptr) {
    TensorGrid moved = *grid;
    moved.axis =
        static_cast<size_t>(std::ranges::find(perm->values, static_cast<int64_t>(grid->axis)) - perm->values.begin());
    out.grid = std::make_shared<TensorGrid>(std::move(moved));
  }
  return out;
}

std::optional<DType> KernelType(ElementType type) {
  switch (type) {
    case ElementType::kFloat:
      return DType::Float(32);
    case ElementType::kUint8:
      return DType::UInt(8);
    case ElementType::kInt8:
      return DType::Int(8);
    case ElementType::kInt32:
      return DType::Int(32);
    default:
      return std::nullopt;
  }
}

static double Work(const graph::Node& node) {
  double most = 1;
  for (const TensorType& input : node.workload.inputs) most = std::max(most, static_cast<double>(input.Elements()));
  const std::string& op = node.workload.op;
  const bool sums = op.find("conv") != std::string::npos || op.find("pool") != std::string::npos || op == "matmul" ||
                    op == "dense" || op == "lrn" || op == "resize";
  const auto out = static_cast<double>(node.output.Elements());
  return sums ? most * out : most + out;
}

Value ConstantValue(Constant tensor) {
  Shape shape = tensor->shape();
  return {std::move(tensor), "", std::move(shape)};
}

Value ConstantValue(Tensor tensor) { return ConstantValue(std::make_shared<const Tensor>(std::move(tensor))); }

Attribute Numbers(const std::string& name, const Shape& values, char separator) {
  return {.name = name, .values = values, .separator = separator};
}

Attribute Word(const std::string& name, const std::string& word) { return {.name = name, .word = word}; }

Attribute Real(const std::string& name, double value) { return semantics::MakeRealAttribute(name, {value}); }

Builder::Builder(std::string name, std::set<std::string> taken, int64_t fold_limit)
    : taken_(std::move(taken)), fold_limit_(fold_limit) {
  graph_.name = std::move(name);
}

Value Builder::AddInput(const std::string& name, const TensorType& type) {
  graph_.inputs.push_back({name, type});
  return {nullptr, name, type.shape, type.type};
}

std::string Builder::Fresh(const std::string& hint) {
  for (int& number = next_[hint];;) {
    std::string name = fmt::format("{}.{}", hint, ++number);
    if (taken_.insert(name).second) return name;
  }
}

Result<std::string> Builder::Operand(const Value& value, DType type) {
  if (!value.is_constant()) return value.tensor;
  const Tensor& tensor = *value.constant;
  if (KernelType(tensor.type) != type) {
    return Status::Unsupported("the constant `{}` is {}; {} is needed here when the network runs", tensor.name,
                               ElementTypeName(tensor.type), ToString(type));
  }
  auto [found, added] = parameters_.emplace(std::pair(&tensor, value.shape), "");
  if (!added) return found->second;
  kept_.push_back(value.constant);
  // An initialiser keeps its name; the same values in another shape get a new one.
  std::string& name = found->second;
  name = tensor.name;
  if (name.empty() || values_.count(name) != 0) name = Fresh(name.empty() ? "constant" : name);
  graph_.parameters.push_back({name, {type, value.shape}, {.kind = graph::InitKind::kFile}});
  if (tensor.grid && (tensor.grid->axis == 0 || tensor.grid->grid.scales.size() == 1)) {
    grids_[name] = tensor.grid->grid;
  }
  values_.emplace(name, type.is_float() ? tensor.data : TensorData({type, tensor.shape()}, tensor.data.Doubles()));
  return name;
}

Status Builder::Spend(int64_t count) {
  if (count > fold_limit_ - spent_) {
    return Status::Unsupported("its constants are too large: more than {} elements are computed from others",
                               fold_limit_);
  }
  spent_ += count;
  return Status();
}

Result<Value> Builder::Emit(const std::string& op, const std::vector<Value>& operands,
                            std::vector<Attribute> attributes, std::vector<EpilogueOp> epilogue,
                            const std::string& hint) {
  graph::Node node;
  node.workload.op = op;
  for (Attribute& attribute : attributes) {  // omit empty lists
    if (!attribute.values.empty() || !attribute.word.empty()) node.workload.attributes.push_back(std::move(attribute));
  }
  node.workload.epilogue = std::move(epilogue);
  const size_t further = semantics::OperandCount(node.workload);  // `inputs` is still empty; the epilogue's operands
  const bool integers = op == "quantise" || op == "dequantise" || std::ranges::any_of(operands, [](const Value& v) {
                          return !v.is_constant() && !v.type.is_float();
                        });
  bool constant = true;
  std::vector<DType> types;
  for (size_t i = 0; i < operands.size(); ++i) {
    HONE_RETURN_IF_ERROR(CountElements(operands[i].shape).status());
    const std::optional<DType> own = integers && operands[i].is_constant() ? KernelType(operands[i].constant->type)
                                                                           : std::optional(operands[i].type);
    types.push_back(own.value_or(DType::Float(32)));
    if (i + further < operands.size()) node.workload.inputs.push_back({types.back(), operands[i].shape});
    constant = constant && operands[i].is_constant();
  }
  HONE_ASSIGN_OR_RETURN(node.output, semantics::InferOutput(node.workload));
  HONE_RETURN_IF_ERROR(CountElements(node.output.shape).status());
  if (constant) return Fold(node, operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(std::string name, Operand(operands[i], types[i]));
    node.inputs.push_back(std::move(name));
  }
  node.name = Fresh(hint);
  generated_.insert(node.name);
  graph_.nodes.push_back(std::move(node));
  const graph::Node& made = graph_.nodes.back();
  return Value{nullptr, made.name, made.output.shape, made.output.type};
}

Result<Value> Builder::Fold(const graph::Node& node, const std::vector<Value>& operands) {
  HONE_ASSIGN_OR_RETURN(const int64_t count, CountElements(node.output.shape));
  HONE_RETURN_IF_ERROR(Spend(count));
  if (Work(node) > kFoldWork * static_cast<double>(fold_limit_)) {
    return Status::Unsupported("a {} of constants alone is too much to compute while importing", node.workload.op);
  }
  const semantics::Definition* definition = semantics::Find(node.workload.op);
  if (definition != nullptr && definition->sources != nullptr) {
    HONE_ASSIGN_OR_RETURN(Tensor moved, MoveElements(*definition, node, operands));
    return ConstantValue(std::move(moved));
  }
  const bool conversion = node.workload.op == "quantise" || node.workload.op == "dequantise";
  std::vector<std::vector<double>> doubles;
  for (const Value& operand : operands) {
    const Tensor& tensor = *operand.constant;
    if (!IsFloating(tensor.type) && !(conversion && KernelType(tensor.type))) {
      return Status::Unsupported("of {} constants it is not supported", ElementTypeName(tensor.type));
    }
    doubles.push_back(tensor.data.Doubles());
  }
  std::vector<const std::vector<double>*> pointers;
  for (const auto& values : doubles) pointers.push_back(&values);
  const std::vector<double> result = semantics::Evaluate(node.workload, pointers, 1);
  Tensor out;
  out.type = operands[0].constant->type;
  if (conversion) out.type = operands[node.workload.op == "quantise" ? 2 : 1].constant->type;
  if (IsFloating(out.type)) {
    out.data = TensorData(node.output, result);
  } else {
    out.data = TensorData(TensorType{DType::Int(64), node.output.shape}, result);
  }
  return ConstantValue(std::move(out));
}

void Builder::Rename(Value* value, const std::string& name) {
  if (value->is_constant() || generated_.erase(value->tensor) == 0) return;
  // Search from the end: the node that computes it is among the last, and its readers follow it.
  for (size_t i = graph_.nodes.size(); i-- > 0;) {
    graph::Node& node = graph_.nodes[i];
    for (std::string& input : node.inputs) {
      if (input == value->tensor) input = name;
    }
    if (node.name != value->tensor) continue;
    node.name = name;
    break;
  }
  value->tensor = name;
}

}  // namespace hone::onnx
