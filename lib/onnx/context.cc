#include "onnx/context.h"

#include <set>

namespace hone::onnx {

Result<Constant> NodeContext::ConstantIn(size_t i, const char* what) const {
  if (In(i).is_constant()) return In(i).constant;
  return Status::Unsupported("its {} `{}` is computed when the network runs; it must be constant", what,
                             node_.inputs[i]);
}

Result<Shape> NodeContext::Ints(size_t i, const char* what) const {
  HONE_ASSIGN_OR_RETURN(const Constant constant, ConstantIn(i, what));
  const Tensor& tensor = *constant;
  if (!IsInteger(tensor.type)) {
    return Status::Invalid("its {} `{}` must be integers, is {}", what, node_.inputs[i], ElementTypeName(tensor.type));
  }
  return Shape(tensor.ints().begin(), tensor.ints().end());
}

Result<std::vector<double>> NodeContext::Reals(size_t i, const char* what) const {
  HONE_ASSIGN_OR_RETURN(const Constant constant, ConstantIn(i, what));
  return constant->data.Doubles();
}

Result<Shape> NodeContext::IntsOf(size_t i, const char* name, const Shape& fallback) {
  if (Has(i)) return Ints(i, name);
  return IntList(name, fallback);
}

const NodeAttribute* NodeContext::Find(const char* name, NodeAttribute::Kind kind) {
  const NodeAttribute* attribute = node_.Find(name);
  if (attribute == nullptr || attribute->kind == kind) return attribute;
  if (status_.ok()) status_ = Status::Invalid("its attribute `{}` is of a wrong type", name);
  return nullptr;
}

Result<int64_t> NodeContext::Axis(int64_t axis, size_t rank, bool end) {
  const auto n = static_cast<int64_t>(rank);
  if (axis < -n || axis >= n + (end ? 1 : 0)) {
    return Status::Invalid("a tensor of {1} dimensions has no axis {0}", axis, n);
  }
  return axis < 0 ? axis + n : axis;
}

Result<Shape> NodeContext::Axes(Shape axes, size_t rank) {
  std::set<int64_t> seen;
  for (int64_t& axis : axes) {
    HONE_ASSIGN_OR_RETURN(axis, Axis(axis, rank));
    if (!seen.insert(axis).second) return Status::Invalid("axis {} stands twice", axis);
  }
  return axes;
}

Result<Value> NodeContext::Emit(const std::string& op, const std::vector<Value>& operands,
                                std::vector<Attribute> attributes, std::vector<EpilogueOp> epilogue) {
  return builder_->Emit(op, operands, std::move(attributes), std::move(epilogue), node_.outputs[0]);
}

Status NodeContext::Set(size_t output, Value value) {
  if (Wants(output)) outputs_[output] = std::move(value);
  return Status();
}

}  // namespace hone::onnx
