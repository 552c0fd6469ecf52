// A mapper's view of one node of the model: its inputs, its attributes, and the graph to which it adds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "onnx/builder.h"
#include "onnx/model.h"

namespace hone::onnx {

class NodeContext {
 public:
  // `inputs` has one entry for each input of the node, null if it is omitted.
  NodeContext(const ModelNode& node, int64_t opset, std::vector<const Value*> inputs, Builder* builder)
      : node_(node), opset_(opset), inputs_(std::move(inputs)), builder_(builder) {}

  const ModelNode& node() const { return node_; }
  int64_t opset() const { return opset_; }
  Builder& builder() { return *builder_; }

  size_t InputCount() const { return inputs_.size(); }
  bool Has(size_t i) const { return i < inputs_.size() && inputs_[i] != nullptr; }
  const Value& In(size_t i) const { return *inputs_[i]; }  // REQUIRES: Has(i)
  const Shape& ShapeOf(size_t i) const { return inputs_[i]->shape; }
  // The values of a constant integer input as one list, whatever its shape. Returns kUnsupported if it is not constant,
  // calling it `what` ("axes").
  Result<Shape> Ints(size_t i, const char* what) const;
  Result<std::vector<double>> Reals(size_t i, const char* what) const;
  // Values given as the attribute `name` (older opsets) or as input i.
  Result<Shape> IntsOf(size_t i, const char* name, const Shape& fallback);

  // Attributes with their defaults. If one has the wrong kind, AttributeStatus reports the error afterwards.
  bool HasAttribute(const char* name) const { return node_.Find(name) != nullptr; }
  int64_t Int(const char* name, int64_t fallback) { return Get(name, Kind::kInt, &NodeAttribute::i, fallback); }
  double Float(const char* name, double fallback) { return Get(name, Kind::kFloat, &NodeAttribute::f, fallback); }
  std::string String(const char* name, const std::string& fallback) {
    return Get(name, Kind::kString, &NodeAttribute::s, fallback);
  }
  Shape IntList(const char* name, const Shape& fallback) {
    return Get(name, Kind::kInts, &NodeAttribute::ints, fallback);
  }
  std::vector<float> FloatList(const char* name) {
    return Get(name, Kind::kFloats, &NodeAttribute::floats, std::vector<float>());
  }
  const Status& AttributeStatus() const { return status_; }

  // Converts an axis of -rank to rank - 1 (to rank, if `end`) to a count from 0.
  static Result<int64_t> Axis(int64_t axis, size_t rank, bool end = false);
  static Result<Shape> Axes(Shape axes, size_t rank);  // checks that they are distinct; keeps the order

  Result<Value> Emit(const std::string& op, const std::vector<Value>& operands, std::vector<Attribute> attributes = {},
                     std::vector<EpilogueOp> epilogue = {});

  // Whether the node names this output. Nothing can read an unnamed one.
  bool Wants(size_t output) const { return output < node_.outputs.size() && !node_.outputs[output].empty(); }
  // Sets an output of the node. Outputs that the mapper does not set are unsupported.
  Status Set(size_t output, Value value);
  Status Set(Result<Value> value) { return value.ok() ? Set(0, std::move(*value)) : value.status(); }
  std::map<size_t, Value>& outputs() { return outputs_; }

 private:
  using Kind = NodeAttribute::Kind;
  Result<Constant> ConstantIn(size_t i, const char* what) const;
  const NodeAttribute* Find(const char* name, Kind kind);
  template <typename T, typename Field>
  T Get(const char* name, Kind kind, Field NodeAttribute::* value, T fallback) {
    const NodeAttribute* found = Find(name, kind);
    return found ? static_cast<T>(found->*value) : std::move(fallback);
  }

  const ModelNode& node_;
  int64_t opset_;
  std::vector<const Value*> inputs_;
  Builder* builder_;
  Status status_;
  std::map<size_t, Value> outputs_;
};

}  // namespace hone::onnx
