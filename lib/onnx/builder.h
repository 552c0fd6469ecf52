// The graph under construction: operators are appended one by one; an operator whose operands are all constant is
// computed instead.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "onnx/tensor.h"

namespace hone::onnx {

// The meaning of a name in the model: a constant, or a tensor of the graph.
struct Value {
  Constant constant;   // null if the value is computed when the network runs,
  std::string tensor;  // as this tensor of the graph
  Shape shape;
  DType type = DType::Float(32);  // of the tensor

  bool is_constant() const { return constant != nullptr; }
};

// The type that kernels have for an element type; nothing if they cannot compute with it.
std::optional<DType> KernelType(ElementType type);

Value ConstantValue(Tensor tensor);
// Shares the data if the shape is the same.
Value ConstantValue(Constant tensor);

// An attribute of a workload.
Attribute Numbers(const std::string& name, const Shape& values, char separator = ',');
Attribute Word(const std::string& name, const std::string& word);
Attribute Real(const std::string& name, double value);

class Builder {
 public:
  // `taken` are the names of the model's tensors; generated names differ from them. `fold_limit` is the budget of
  // Spend.
  Builder(std::string name, std::set<std::string> taken, int64_t fold_limit);

  Value AddInput(const std::string& name, const TensorType& type);

  // Appends one operator; its output's name starts with `hint`. Returns kInvalid or kUnsupported from the operator's
  // own checks, or for an operand of a wrong type: a constant is float32, or also u8, i8 or i32 if the operator has
  // other operands of integers, or quantises.
  Result<Value> Emit(const std::string& op, const std::vector<Value>& operands, std::vector<Attribute> attributes,
                     std::vector<EpilogueOp> epilogue, const std::string& hint);

  // Renames the tensor `value` if a node computes it under a generated name.
  void Rename(Value* value, const std::string& name);

  // Takes `count` elements from the budget of constants. Returns kUnsupported once it is spent.
  Status Spend(int64_t count);

  graph::Graph& graph() { return graph_; }
  graph::ParameterValues& values() { return values_; }
  // The grids of parameters that were dequantised; with several scales, only if these are by output channel (axis 0).
  const graph::WeightGrids& grids() const { return grids_; }

 private:
  Result<std::string> Operand(const Value& value, DType type);
  Result<Value> Fold(const graph::Node& node, const std::vector<Value>& operands);
  std::string Fresh(const std::string& hint);

  graph::Graph graph_;
  graph::ParameterValues values_;
  graph::WeightGrids grids_;
  std::set<std::string> taken_;
  std::set<std::string> generated_;  // names that Rename may change
  std::map<std::pair<const Tensor*, Shape>, std::string> parameters_;
  std::vector<Constant> kept_;       // keeps the keys of `parameters_` unique
  std::map<std::string, int> next_;  // next number of each hint
  int64_t fold_limit_, spent_ = 0;
};

}  // namespace hone::onnx
