// The graph under construction: operators are appended one by one, and those whose operands are all constant are
// computed instead.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "graph/parameters.h"
#include "onnx/tensor.h"

namespace hone::onnx {

// The meaning of a name in the model: a constant, or a float32 tensor of the graph.
struct Value {
  Constant constant;   // null: it is computed when the network runs,
  std::string tensor;  // as this tensor of the graph
  Shape shape;

  bool is_constant() const { return constant != nullptr; }
};

Value ConstantValue(Tensor tensor);
// Shared, not copied, if the shape is the same.
Value ConstantValue(Constant tensor);

// Attributes of a workload.
Attribute Numbers(const std::string& name, const Shape& values, char separator = ',');
Attribute Word(const std::string& name, const std::string& word);
Attribute Real(const std::string& name, double value);

class Builder {
 public:
  // `taken`: names that tensors of the model have; generated ones differ from them. `fold_limit`: what Spend may take.
  Builder(std::string name, std::set<std::string> taken, int64_t fold_limit);

  Value AddInput(const std::string& name, const Shape& shape);

  // One operator; its output's name starts with `hint`. kInvalid, kUnsupported: the operator's own complaint, or an
  // operand that is not float32.
  Result<Value> Emit(const std::string& op, const std::vector<Value>& operands, std::vector<Attribute> attributes,
                     std::vector<EpilogueOp> epilogue, const std::string& hint);

  // The tensor `value` gets this name, if a node computes it and it has a generated one.
  void Rename(Value* value, const std::string& name);

  // Takes `count` elements from the budget of constants. kUnsupported once it is spent.
  Status Spend(int64_t count);

  graph::Graph& graph() { return graph_; }
  graph::ParameterValues& values() { return values_; }

 private:
  Result<std::string> Operand(const Value& value);
  Result<Value> Fold(const graph::Node& node, const std::vector<Value>& operands);
  std::string Fresh(const std::string& hint);

  graph::Graph graph_;
  graph::ParameterValues values_;
  std::set<std::string> taken_;
  std::set<std::string> generated_;  // names that Rename may change
  std::map<std::pair<const Tensor*, Shape>, std::string> parameters_;
  std::vector<Constant> kept_;       // so that the keys of `parameters_` stay unique
  std::map<std::string, int> next_;  // by hint
  int64_t fold_limit_, spent_ = 0;
};

}  // namespace hone::onnx
