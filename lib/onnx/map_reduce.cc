// Reductions and softmax.

#include <algorithm>
#include <limits>

#include "onnx/operators.h"
#include "onnx/values.h"

namespace hone::onnx {
namespace {

// Reductions of constant integers over all elements, for the arithmetic of shapes.
Result<Value> FoldIntegers(NodeContext* c, const std::string& op, const Tensor& in, const Shape& shape) {
  const auto ints = in.ints();
  if (ints.empty()) return Status::Unsupported("of nothing it is not supported");
  uint64_t sum = 0, product = 1;
  for (int64_t x : ints) sum += static_cast<uint64_t>(x), product *= static_cast<uint64_t>(x);
  const auto [least, most] = std::minmax_element(ints.begin(), ints.end());
  Tensor out(in.type, shape);
  int64_t& result = out.data.as<int64_t>()[0];
  if (op == "ReduceSum") {
    result = static_cast<int64_t>(sum);
  } else if (op == "ReduceProd") {
    result = static_cast<int64_t>(product);
  } else if (op == "ReduceMax") {
    result = *most;
  } else if (op == "ReduceMin") {
    result = *least;
  } else {
    return Status::Unsupported("of integers it is not supported");
  }
  HONE_RETURN_IF_ERROR(c->builder().Spend(1));
  return ConstantValue(std::move(out));
}

// 1 where x is the first maximum along the axis, else 0. `places` count down along the axis, so that the first of equal
// maxima gets the highest place. Smaller elements have a negative difference to the maximum.
Result<Value> FirstGreatest(NodeContext* c, const Value& x, int64_t axis) {
  const int64_t extent = x.shape[static_cast<size_t>(axis)];
  const std::vector<Attribute> over = {Numbers("axes", {axis}), Numbers("keep", {1})};
  const auto is_greatest = [&](const Value& v) -> Result<Value> {
    HONE_ASSIGN_OR_RETURN(const Value most, c->Emit("reduce_max", {v}, over));
    HONE_ASSIGN_OR_RETURN(const Value difference, Binary(c, "sub", v, most));
    HONE_ASSIGN_OR_RETURN(const Value side, Unary(c, "sign", difference));
    return Binary(c, "add", side, Filled({1}, 1));
  };
  // Infinities have no difference; clamping them to the largest number keeps the order.
  constexpr double kMost = std::numeric_limits<float>::max();
  HONE_ASSIGN_OR_RETURN(const Value finite, Unary(c, "clip", x, {Real("low", -kMost), Real("high", kMost)}));
  HONE_ASSIGN_OR_RETURN(const Value greatest, is_greatest(finite));
  HONE_RETURN_IF_ERROR(c->builder().Spend(extent));
  Shape along(x.shape.size() - static_cast<size_t>(axis), 1);
  along[0] = extent;
  std::vector<float> places;
  for (int64_t i = 0; i < extent; ++i) places.push_back(static_cast<float>(extent - i));
  HONE_ASSIGN_OR_RETURN(const Value score, Binary(c, "mul", greatest, Floats(along, places)));
  return is_greatest(score);
}

Status MapReduce(NodeContext* c) {
  const Value& x = c->In(0);
  const std::string& op = c->node().op;
  const size_t rank = x.shape.size();
  HONE_ASSIGN_OR_RETURN(Shape axes, c->IntsOf(1, "axes", {}));
  HONE_ASSIGN_OR_RETURN(axes, NodeContext::Axes(axes, rank));
  std::sort(axes.begin(), axes.end());
  const bool keep = c->Int("keepdims", 1) != 0;
  const bool nothing = axes.empty() && c->Int("noop_with_empty_axes", 0) != 0;
  if (nothing) {
    if (op != "ReduceSum" && op != "ReduceMean" && op != "ReduceMax" && op != "ReduceMin" && op != "ReduceProd") {
      return Status::Unsupported("noop_with_empty_axes without axes is not supported");
    }
    return c->Set(0, x);
  }
  if (x.is_constant() && IsInteger(x.constant->type)) {
    if (!axes.empty() && axes.size() != rank)
      return Status::Unsupported("of some axes of integers it is not supported");
    return c->Set(FoldIntegers(c, op, *x.constant, keep ? Shape(rank, 1) : Shape()));
  }
  if (rank == 0) {
    HONE_ASSIGN_OR_RETURN(const Value one, Reshape(c, x, {1}));
    return c->Set(c->Emit(GraphOperator(*c), {one}));
  }
  std::vector<Attribute> attributes;
  if (!axes.empty() && axes.size() < rank) attributes.push_back(Numbers("axes", axes));
  if (keep) attributes.push_back(Numbers("keep", {1}));
  return c->Set(c->Emit(GraphOperator(*c), {x}, std::move(attributes)));
}

Status MapSoftmax(NodeContext* c) {
  const Value& x = c->In(0);
  const size_t rank = x.shape.size();
  const auto emit = [c](const Value& v, int64_t axis) -> Result<Value> {
    if (c->node().op == "Hardmax") return FirstGreatest(c, v, axis);
    return c->Emit(GraphOperator(*c), {v}, {Numbers("axis", {axis})});
  };
  const bool flattens = c->opset() < 13;
  if (rank == 0) return Status::Invalid("its input has no axis");
  HONE_ASSIGN_OR_RETURN(const int64_t axis, NodeContext::Axis(c->Int("axis", flattens ? 1 : -1), rank, flattens));
  // Until opset 13 it flattened all axes from this one on: the same result only for the last axis.
  const auto last = static_cast<int64_t>(rank) - 1;
  if (!flattens || axis == last) return c->Set(emit(x, axis));
  Shape matrix = {1, 1};
  for (size_t i = 0; i < rank; ++i) matrix[static_cast<int64_t>(i) < axis ? 0 : 1] *= x.shape[i];
  HONE_ASSIGN_OR_RETURN(const Value rows, Reshape(c, x, matrix));
  HONE_ASSIGN_OR_RETURN(const Value out, emit(rows, 1));
  return c->Set(Reshape(c, out, x.shape));
}

}  // namespace

std::vector<OperatorEntry> ReduceOperators() {
  return {
      {"Hardmax LogSoftmax Softmax", MapSoftmax, 1, 1, 7},
      {"ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum "
       "ReduceSumSquare",
       MapReduce, 1, 2, 7},
  };
}

}  // namespace hone::onnx
