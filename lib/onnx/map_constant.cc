// Operators on constants only: the arithmetic of shapes, conditions, types.
#include <algorithm>
#include <cmath>

#include "onnx/operators.h"
#include "onnx/values.h"

namespace hone::onnx {
namespace {

Status NeedConstants(const NodeContext& c) {
  for (size_t i = 0; i < c.InputCount(); ++i) {
    if (c.Has(i) && !c.In(i).is_constant()) {
      return Status::Unsupported("its input `{}` is computed when the network runs; it must be constant",
                                 c.node().inputs[i]);
    }
  }
  return Status();
}

Status MapLogic(NodeContext* c) {
  HONE_RETURN_IF_ERROR(NeedConstants(*c));
  const std::string& op = c->node().op;
  const Value &a = c->In(0), &b = c->In(1);
  if (op == "And") return c->Set(Binary(c, "and", a, b));
  if (op == "Or") return c->Set(Binary(c, "or", a, b));
  if (op == "Xor") return c->Set(Binary(c, "xor", a, b));
  if (op == "Mod") {
    return c->Set(Binary(c, c->Int("fmod", 0) != 0 ? "fmod" : "mod", a, b));
  }
  return c->Set(Compare(c, a, b, [&op](double x, double y) {
    if (op == "Equal") return x == y;
    if (op == "Less") return x < y;
    if (op == "LessOrEqual") return x <= y;
    return op == "Greater" ? x > y : x >= y;
  }));
}

Status MapNot(NodeContext* c) {
  HONE_RETURN_IF_ERROR(NeedConstants(*c));
  if (c->In(0).constant->type != ElementType::kBool) return Status::Invalid("its input must be bool");
  return c->Set(MapInts(c, c->In(0), [](int64_t x) { return x == 0; }));
}

Status MapWhere(NodeContext* c) {
  const Value &condition = c->In(0), &a = c->In(1), &b = c->In(2);
  if (!condition.is_constant()) HONE_RETURN_IF_ERROR(NeedConstants(*c));
  if (condition.constant->type != ElementType::kBool) return Status::Invalid("its condition must be bool");
  if (a.is_constant() && b.is_constant()) return c->Set(Where(c, condition, a, b));
  // A constant choice between tensors is supported if it is the same everywhere.
  bool any = false, all = true;
  for (int64_t x : condition.constant->ints()) any = any || x != 0, all = all && x != 0;
  if (any != all) return NeedConstants(*c);
  HONE_ASSIGN_OR_RETURN(Shape shape, BroadcastShape(a.shape, b.shape));
  HONE_ASSIGN_OR_RETURN(shape, BroadcastShape(shape, condition.shape));
  return c->Set(Expand(c, all ? a : b, shape));
}

Status MapConstant(NodeContext* c) {
  for (const NodeAttribute& attribute : c->node().attributes) {
    const auto size = [](const auto& list) { return static_cast<int64_t>(list.size()); };
    switch (attribute.kind) {
      case NodeAttribute::Kind::kTensor:
        return c->Set(0, ConstantValue(attribute.tensor));
      case NodeAttribute::Kind::kFloat:
        return c->Set(0, Scalar(attribute.f));
      case NodeAttribute::Kind::kInt:
        return c->Set(0, Ints({}, {attribute.i}));
      case NodeAttribute::Kind::kInts:
        return c->Set(0, Ints({size(attribute.ints)}, attribute.ints));
      case NodeAttribute::Kind::kFloats:
        return c->Set(0, Floats({size(attribute.floats)}, attribute.floats));
      default:
        return Status::Unsupported("its attribute `" + attribute.name + "` is not supported");
    }
  }
  return Status::Invalid("it has no value");
}

Status MapConstantOfShape(NodeContext* c) {
  HONE_ASSIGN_OR_RETURN(const Shape shape, c->Ints(0, "shape"));
  Tensor one(ElementType::kFloat, {1});
  if (const NodeAttribute* value = c->node().Find("value")) {
    if (value->kind != NodeAttribute::Kind::kTensor || !value->tensor->has_values() || value->tensor->Elements() != 1) {
      return Status::Invalid("its value must be a tensor of one element");
    }
    one = *value->tensor;
  }
  HONE_ASSIGN_OR_RETURN(const int64_t count, CountElements(shape));
  HONE_RETURN_IF_ERROR(c->builder().Spend(count));
  Tensor out(one.type, shape);
  for (int64_t i = 0; i < count; ++i) out.Copy(static_cast<size_t>(i), one, 0);
  return c->Set(0, ConstantValue(std::move(out)));
}

Status MapRange(NodeContext* c) {
  HONE_RETURN_IF_ERROR(NeedConstants(*c));
  for (size_t i = 0; i < 3; ++i) {
    if (c->In(i).constant->Elements() != 1) return Status::Invalid("start, limit and delta must be one number each");
  }
  const Tensor &start = *c->In(0).constant, &limit = *c->In(1).constant, &delta = *c->In(2).constant;
  const double step = delta.At(0);
  if (!(step != 0)) return Status::Invalid("its delta must not be 0");
  const double count = std::max(std::ceil((limit.At(0) - start.At(0)) / step), 0.0);
  if (!(count <= static_cast<double>(kMaxElements))) {
    return Status::Invalid("its result is too large: at most {} elements", kMaxElements);
  }
  const auto size = static_cast<int64_t>(count);
  HONE_RETURN_IF_ERROR(c->builder().Spend(size));
  Tensor out(start.type, {size});
  for (int64_t i = 0; i < size; ++i) out.Set(static_cast<size_t>(i), start.At(0) + static_cast<double>(i) * step);
  return c->Set(0, ConstantValue(std::move(out)));
}

Status MapShape(NodeContext* c) {
  const Shape& shape = c->ShapeOf(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t begin = clamp(c->Int("start", 0)), end = clamp(c->Int("end", rank));
  const int64_t size = std::max<int64_t>(end - begin, 0);
  return c->Set(0, Ints({size}, {shape.begin() + begin, shape.begin() + begin + size}));
}

Status MapSize(NodeContext* c) { return c->Set(0, Ints({}, {semantics::Product(c->ShapeOf(0))})); }

Status MapNonZero(NodeContext* c) {
  HONE_RETURN_IF_ERROR(NeedConstants(*c));
  const Tensor& in = *c->In(0).constant;
  HONE_RETURN_IF_ERROR(c->builder().Spend(in.Elements() * static_cast<int64_t>(in.shape().size() + 1)));
  std::vector<int64_t> found;
  for (int64_t i = 0; i < in.Elements(); ++i) {
    if (in.At(static_cast<size_t>(i)) != 0) found.push_back(i);
  }
  std::vector<int64_t> places;
  int64_t inner = in.Elements();
  for (int64_t extent : in.shape()) {
    if (found.empty()) break;
    inner /= extent;
    for (int64_t i : found) places.push_back(i / inner % extent);
  }
  const Shape shape = {static_cast<int64_t>(in.shape().size()), static_cast<int64_t>(found.size())};
  return c->Set(0, Ints(shape, places));
}

Status MapScatterNd(NodeContext* c) {
  HONE_RETURN_IF_ERROR(NeedConstants(*c));
  if (c->String("reduction", "none") != "none") return Status::Unsupported("only the reduction `none` is supported");
  const Tensor &data = *c->In(0).constant, &updates = *c->In(2).constant;
  HONE_ASSIGN_OR_RETURN(const Shape indices, c->Ints(1, "indices"));
  // The last axis of the indices addresses the first `depth` axes of the data.
  const Shape& places = c->ShapeOf(1);
  const int64_t depth = places.empty() ? 0 : places.back();
  if (depth < 1 || depth > static_cast<int64_t>(data.shape().size())) {
    return Status::Invalid("its indices {} do not fit its data {}", ShapeText(places), ShapeText(data.shape()));
  }
  Shape wanted(places.begin(), places.end() - 1);
  wanted.insert(wanted.end(), data.shape().begin() + depth, data.shape().end());
  if (updates.shape() != wanted || updates.type != data.type) {
    return Status::Invalid("its updates must be {}{}, are {}{}", ElementTypeName(data.type), ShapeText(wanted),
                           ElementTypeName(updates.type), ShapeText(updates.shape()));
  }
  HONE_RETURN_IF_ERROR(c->builder().Spend(data.Elements()));
  const int64_t inner = semantics::Product(data.shape(), static_cast<size_t>(depth), data.shape().size());
  Tensor out = data;
  out.name.clear();
  for (int64_t from = 0; from < static_cast<int64_t>(indices.size()) / depth; ++from) {
    int64_t to = 0;
    for (int64_t axis = 0; axis < depth; ++axis) {
      const int64_t index = indices[static_cast<size_t>(from * depth + axis)],
                    extent = data.shape()[static_cast<size_t>(axis)];
      if (index < -extent || index >= extent) {
        return Status::Invalid("index {} is outside of axis {} of {}", index, axis, ShapeText(data.shape()));
      }
      to = to * extent + (index < 0 ? index + extent : index);
    }
    out.Copy(static_cast<size_t>(to * inner), updates, static_cast<size_t>(from * inner), static_cast<size_t>(inner));
  }
  return c->Set(0, ConstantValue(std::move(out)));
}

Status MapCast(NodeContext* c) {
  if (c->node().op == "CastLike") {
    return c->Set(Cast(c, c->In(0), TypeOf(c->In(1))));
  }
  return c->Set(Cast(c, c->In(0), static_cast<ElementType>(c->Int("to", 0))));
}

}  // namespace

std::vector<OperatorEntry> ConstantOperators() {
  return {
      {"And Equal Greater Less Or Xor", MapLogic, 2, 2, 7},
      {"Mod", MapLogic, 2, 2, 10},
      {"GreaterOrEqual LessOrEqual", MapLogic, 2, 2, 12},
      {"Cast", MapCast, 1, 1, 7},
      {"CastLike", MapCast, 2, 2, 15},
      {"Constant", MapConstant, 0, 0, 7},
      {"ConstantOfShape", MapConstantOfShape, 1, 1, 9},
      {"NonZero", MapNonZero, 1, 1, 9},
      {"Not", MapNot, 1, 1, 7},
      {"Range", MapRange, 3, 3, 11},
      {"ScatterND", MapScatterNd, 3, 3, 11},
      {"Shape", MapShape, 1, 1, 7},
      {"Size", MapSize, 1, 1, 7},
      {"Where", MapWhere, 3, 3, 9},
  };
}

}  // namespace hone::onnx
