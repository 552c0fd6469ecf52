#include <algorithm>
#include <numeric>

#include "onnx/values.h"
#include "semantics/indices.h"

namespace hone::onnx {

// Moves one operand's elements to `shape`. The graph has no empty tensors.
static Result<Value> Move(NodeContext* c, const std::string& op, const Value& x, const Shape& shape,
                          std::vector<Attribute> attributes) {
  HONE_ASSIGN_OR_RETURN(const int64_t count, CountElements(shape));
  if (count > 0) return c->Emit(op, {x}, std::move(attributes));
  if (!x.is_constant()) return Status::Unsupported("its result is empty");
  return ConstantValue(Tensor(x.constant->type, shape));
}

// Limit of the gathers that replace one.
constexpr size_t kMostGathers = 64;

// Replaces the axis by at least one index: [.., indices, ..]. A kernel takes only a limited number of irregular
// indices, so they are gathered in parts.
static Result<Value> GatherParts(NodeContext* c, const Value& x, int64_t axis, const Shape& indices) {
  const std::vector<semantics::IndexRun> runs = semantics::IndexRuns(indices);
  if (runs.size() > kMostGathers * semantics::kMostIndexRuns) {
    return Status::Unsupported("its indices have no order: more than {} runs of them",
                               kMostGathers * semantics::kMostIndexRuns);
  }
  std::vector<Value> parts;
  for (size_t from = 0; from < runs.size(); from += semantics::kMostIndexRuns) {
    const size_t last = std::min(from + semantics::kMostIndexRuns, runs.size()) - 1;
    const Shape some(indices.begin() + runs[from].begin, indices.begin() + runs[last].end);
    HONE_ASSIGN_OR_RETURN(Value part, c->Emit("gather", {x},
                                              {Numbers("axis", {axis}), Numbers("indices", some),
                                               Numbers("shape", {static_cast<int64_t>(some.size())})}));
    parts.push_back(std::move(part));
  }
  return Concat(c, parts, axis);
}

Shape FirstAxes(size_t count) {
  Shape axes(count);
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Result<Shape> BroadcastShape(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() < b.size() ? b : a;
  const Shape& shorter = a.size() < b.size() ? a : b;
  Shape out = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& extent = out[longer.size() - shorter.size() + i];
    if (extent != shorter[i] && extent != 1 && shorter[i] != 1) {
      return Status::Invalid("the shapes {} and {} cannot be broadcast to each other", ShapeText(a), ShapeText(b));
    }
    if (extent == 1) extent = shorter[i];
  }
  return out;
}

Result<Value> Reshape(NodeContext* c, const Value& x, const Shape& shape) {
  HONE_ASSIGN_OR_RETURN(const int64_t before, CountElements(x.shape));
  HONE_ASSIGN_OR_RETURN(const int64_t after, CountElements(shape));
  if (before != after) {
    return Status::Invalid("{} has {} elements, {} has {}", ShapeText(x.shape), before, ShapeText(shape), after);
  }
  if (x.shape == shape) return x;
  if (!x.is_constant()) return c->Emit("reshape", {x}, {Numbers("shape", shape)});
  // The same values with another shape share their memory.
  HONE_RETURN_IF_ERROR(c->builder().Spend(after));
  Tensor out = *x.constant;
  out.name.clear();
  out.data.type.shape = shape;
  // The axis of several scales stays if it and those before it do.
  if (out.grid && out.grid->grid.scales.size() > 1) {
    const size_t axes = out.grid->axis + 1;
    if (shape.size() < axes ||
        !std::equal(shape.begin(), shape.begin() + static_cast<ptrdiff_t>(axes), x.shape.begin())) {
      out.grid = nullptr;
    }
  }
  return ConstantValue(std::move(out));
}

Result<Value> Transpose(NodeContext* c, const Value& x, const Shape& perm) {
  Shape sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != FirstAxes(x.shape.size())) {
    return Status::Invalid("{} is not a permutation of the axes of {}", ShapeText(perm), ShapeText(x.shape));
  }
  if (perm == sorted) return x;
  Shape shape;
  for (int64_t axis : perm) shape.push_back(x.shape[static_cast<size_t>(axis)]);
  return Move(c, "transpose", x, shape, {Numbers("perm", perm)});
}

Result<Value> Slice(NodeContext* c, const Value& x, const Shape& begin, const Shape& count, const Shape& step) {
  const Shape zeros(x.shape.size(), 0), ones(x.shape.size(), 1);
  if (count == x.shape && begin == zeros && step == ones) return x;
  Shape end;
  for (size_t i = 0; i < begin.size(); ++i) {
    // One past the last element in the direction of the step; -1 for before the first.
    end.push_back(begin[i] + (count[i] - 1) * step[i] + (step[i] > 0 ? 1 : -1));
  }
  return Move(c, "slice", x, count, {Numbers("begin", begin), Numbers("end", end), Numbers("step", step)});
}

Result<Value> Concat(NodeContext* c, const std::vector<Value>& parts, int64_t axis) {
  const auto at = static_cast<size_t>(axis);
  Shape shape = parts[0].shape;
  std::vector<Value> filled;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].shape.size() == shape.size() && parts[i].shape[at] > 0) filled.push_back(parts[i]);
    if (i == 0) continue;
    Shape other = parts[i].shape;
    if (other.size() == shape.size()) other[at] = shape[at];
    if (other != shape) {
      return Status::Invalid("{} does not fit {} on axis {}", ShapeText(parts[i].shape), ShapeText(parts[0].shape),
                             axis);
    }
    shape[at] += parts[i].shape[at];
  }
  if (filled.empty()) return Move(c, "concat", parts[0], shape, {});
  if (filled.size() == 1) return filled[0];
  return c->Emit("concat", filled, {Numbers("axis", {axis})});
}

Result<Value> Gather(NodeContext* c, const Value& x, int64_t axis, const Shape& indices, const Shape& index_shape) {
  const auto at = static_cast<size_t>(axis);
  const int64_t extent = x.shape[at];
  Shape from;
  for (int64_t index : indices) {
    if (index < -extent || index >= extent) {
      return Status::Invalid("index {} is outside of axis {} of {}", index, axis, ShapeText(x.shape));
    }
    from.push_back(index < 0 ? index + extent : index);
  }
  Shape shape(x.shape.begin(), x.shape.begin() + axis);
  shape.insert(shape.end(), index_shape.begin(), index_shape.end());
  shape.insert(shape.end(), x.shape.begin() + axis + 1, x.shape.end());
  Shape flat = x.shape;
  flat[at] = static_cast<int64_t>(from.size());
  if (from.empty()) return Move(c, "gather", x, shape, {});
  // Consecutive indices form a slice.
  bool run = true;
  for (size_t i = 1; i < from.size(); ++i) run = run && from[i] == from[i - 1] + 1;
  if (run) {
    Shape begin(x.shape.size(), 0);
    begin[at] = from[0];
    HONE_ASSIGN_OR_RETURN(const Value part, Slice(c, x, begin, flat, Shape(x.shape.size(), 1)));
    return Reshape(c, part, shape);
  }
  if (semantics::IndexRuns(from).size() > semantics::kMostIndexRuns) {
    HONE_ASSIGN_OR_RETURN(const Value parts, GatherParts(c, x, axis, from));
    return Reshape(c, parts, shape);
  }
  return Move(c, "gather", x, shape,
              {Numbers("axis", {axis}), Numbers("indices", from), Numbers("shape", index_shape)});
}

Result<Value> Expand(NodeContext* c, const Value& x, const Shape& wanted) {
  HONE_ASSIGN_OR_RETURN(const Shape shape, BroadcastShape(x.shape, wanted));
  if (shape == x.shape) return x;
  return Move(c, "expand", x, shape, {Numbers("shape", shape)});
}

Result<Value> Tile(NodeContext* c, const Value& x, const Shape& repeats) {
  if (repeats.size() != x.shape.size()) {
    return Status::Invalid("{} repeats for a tensor of {} dimensions", repeats.size(), x.shape.size());
  }
  Value out = x;
  for (size_t axis = repeats.size(); axis-- > 0;) {
    if (repeats[axis] == 1) continue;
    if (repeats[axis] < 0 || repeats[axis] > 4096) {
      return Status::Unsupported("{} repeats are not supported: 0 to 4096", repeats[axis]);
    }
    if (repeats[axis] == 0) {
      Shape count = out.shape;
      count[axis] = 0;
      HONE_ASSIGN_OR_RETURN(out, Slice(c, out, Shape(count.size(), 0), count, Shape(count.size(), 1)));
      continue;
    }
    const std::vector<Value> parts(static_cast<size_t>(repeats[axis]), out);
    HONE_ASSIGN_OR_RETURN(out, Concat(c, parts, static_cast<int64_t>(axis)));
  }
  return out;
}

Result<Value> Pad(NodeContext* c, const Value& x, const Shape& low, const Shape& high, const std::string& mode,
                  double value) {
  Shape shape = x.shape;
  bool none = true;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (low[i] < 0 || high[i] < 0 || low[i] > (1 << 24) || high[i] > (1 << 24)) {
      return Status::Invalid("padding of {} and {} is out of range", low[i], high[i]);
    }
    shape[i] += low[i] + high[i];
    none = none && low[i] == 0 && high[i] == 0;
    if (mode != "constant" && x.shape[i] == 0) return Status::Invalid("there is nothing to pad with");
  }
  if (none) return x;
  return Move(c, "pad", x, shape,
              {Numbers("low", low), Numbers("high", high), Word("mode", mode), Real("value", value)});
}

}  // namespace hone::onnx
