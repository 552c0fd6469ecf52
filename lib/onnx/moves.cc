#include "onnx/moves.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "onnx/arith.h"
#include "semantics/movement.h"

namespace hone::onnx {
namespace {

Shape StridesOf(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Before a constant of this shape is made: how many elements it has. If it has none, make nothing more, not even a
// table an axis: [2^29,0] is a few bytes of a file, and a table of its first axis 4 GiB.
Result<int64_t> Reserve(NodeContext* c, const Shape& shape) {
  HONE_ASSIGN_OR_RETURN(const int64_t count, CountElements(shape));
  HONE_RETURN_IF_ERROR(c->builder().Spend(count));
  return count;
}

Value EmptyConstant(ElementType type, const Shape& shape) {
  Tensor out;
  out.type = type;
  out.shape = shape;
  return ConstantValue(std::move(out));
}

// out[o] = in[index(o)] for all elements o of `shape`, where index is a sum over the axes of tables[axis][o's
// coordinate]; a table's -1 stands for `fill`.
// REQUIRES: Reserve(c, shape)
Value Take(const Tensor& in, const Shape& shape, const std::vector<Shape>& tables, double fill = 0) {
  const int64_t count = *CountElements(shape);
  Tensor out;
  out.type = in.type;
  out.shape = shape;
  const bool floats = IsFloating(in.type);
  if (floats) out.floats.reserve(static_cast<size_t>(count));
  if (!floats) out.ints.reserve(static_cast<size_t>(count));
  Shape at(shape.size(), 0);
  for (int64_t n = 0; n < count; ++n) {
    int64_t index = 0;
    bool inside = true;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      const int64_t part = tables[axis][static_cast<size_t>(at[axis])];
      inside = inside && part >= 0;
      index += part;
    }
    const auto i = static_cast<size_t>(index);
    if (floats) {
      out.floats.push_back(inside ? in.floats[i] : static_cast<float>(fill));
    } else {
      out.ints.push_back(inside ? in.ints[i] : ToInt(fill));
    }
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < shape[axis]) break;
      at[axis] = 0;
    }
  }
  return ConstantValue(std::move(out));
}

// Table entries as elements of the axis to offsets in `in`.
void Scale(const Shape& in, std::vector<Shape>* tables) {
  const Shape strides = StridesOf(in);
  for (size_t axis = 0; axis < in.size(); ++axis) {
    for (int64_t& index : (*tables)[axis]) index = index < 0 ? -1 : index * strides[axis];
  }
}

Shape Count(int64_t n) {
  Shape values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

// Element i of an axis of n elements, padded by mode: -1 outside of a constant pad.
int64_t PadIndex(int64_t i, int64_t n, const std::string& mode) {
  if (i >= 0 && i < n) return i;
  if (mode == "edge") return i < 0 ? 0 : n - 1;
  if (mode == "wrap") return (i % n + n) % n;
  if (mode != "reflect") return -1;
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1);
  const int64_t in_period = (i % period + period) % period;
  return in_period < n ? in_period : period - in_period;
}

// The most gathers that stand for one.
constexpr size_t kMostGathers = 64;

// For a tensor of the graph and at least one index: [.., indices, ..] on the axis. Indices without order, of which a
// kernel takes a limited number, are gathered in parts.
Result<Value> GatherParts(NodeContext* c, const Value& x, int64_t axis, const Shape& indices) {
  const std::vector<semantics::IndexRun> runs = semantics::IndexRuns(indices);
  if (runs.size() > kMostGathers * semantics::kMostIndexRuns) {
    return Status::Unsupported(
        fmt::format("its indices have no order: more than {} runs of them", kMostGathers * semantics::kMostIndexRuns));
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

}  // namespace

Result<Shape> BroadcastShape(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() < b.size() ? b : a;
  const Shape& shorter = a.size() < b.size() ? a : b;
  Shape out = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& extent = out[longer.size() - shorter.size() + i];
    if (extent != shorter[i] && extent != 1 && shorter[i] != 1) {
      return Status::Invalid(
          fmt::format("the shapes {} and {} cannot be broadcast to each other", ShapeText(a), ShapeText(b)));
    }
    if (extent == 1) extent = shorter[i];
  }
  return out;
}

Result<Value> Reshape(NodeContext* c, const Value& x, const Shape& shape) {
  HONE_ASSIGN_OR_RETURN(const int64_t before, CountElements(x.shape));
  HONE_ASSIGN_OR_RETURN(const int64_t after, CountElements(shape));
  if (before != after) {
    return Status::Invalid(
        fmt::format("{} has {} elements, {} has {}", ShapeText(x.shape), before, ShapeText(shape), after));
  }
  if (x.shape == shape) return x;
  if (!x.is_constant()) return c->Emit("reshape", {x}, {Numbers("shape", shape)});
  // The same values under another shape: shared.
  HONE_RETURN_IF_ERROR(c->builder().Spend(after));
  Tensor out = *x.constant;
  out.name.clear();
  out.shape = shape;
  return ConstantValue(std::move(out));
}

Result<Value> Transpose(NodeContext* c, const Value& x, const Shape& perm) {
  Shape sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  if (sorted != Count(static_cast<int64_t>(x.shape.size()))) {
    return Status::Invalid(
        fmt::format("{} is not a permutation of the axes of {}", ShapeText(perm), ShapeText(x.shape)));
  }
  if (perm == sorted) return x;
  if (!x.is_constant()) return c->Emit("transpose", {x}, {Numbers("perm", perm)});
  Shape shape;
  for (int64_t axis : perm) shape.push_back(x.shape[static_cast<size_t>(axis)]);
  HONE_ASSIGN_OR_RETURN(const int64_t elements, Reserve(c, shape));
  if (elements == 0) return EmptyConstant(x.constant->type, shape);
  const Shape strides = StridesOf(x.shape);
  std::vector<Shape> tables;
  for (int64_t axis : perm) {
    tables.push_back(Count(x.shape[static_cast<size_t>(axis)]));
    for (int64_t& index : tables.back()) index *= strides[static_cast<size_t>(axis)];
  }
  return Take(*x.constant, shape, tables);
}

Result<Value> Slice(NodeContext* c, const Value& x, const Shape& begin, const Shape& count, const Shape& step) {
  const Shape zeros(x.shape.size(), 0), ones(x.shape.size(), 1);
  if (count == x.shape && begin == zeros && step == ones) return x;
  if (!x.is_constant()) {
    Shape end;
    for (size_t i = 0; i < begin.size(); ++i) {
      if (count[i] == 0) return Status::Unsupported("its result is empty");
      // One behind the last in the direction of the step; -1 before the first.
      end.push_back(begin[i] + (count[i] - 1) * step[i] + (step[i] > 0 ? 1 : -1));
    }
    return c->Emit("slice", {x}, {Numbers("begin", begin), Numbers("end", end), Numbers("step", step)});
  }
  HONE_ASSIGN_OR_RETURN(const int64_t elements, Reserve(c, count));
  if (elements == 0) return EmptyConstant(x.constant->type, count);
  std::vector<Shape> tables;
  for (size_t i = 0; i < begin.size(); ++i) {
    tables.push_back(Count(count[i]));
    for (int64_t& index : tables.back()) index = begin[i] + index * step[i];
  }
  Scale(x.shape, &tables);
  return Take(*x.constant, count, tables);
}

Result<Value> Concat(NodeContext* c, const std::vector<Value>& parts, int64_t axis) {
  const auto at = static_cast<size_t>(axis);
  Shape shape = parts[0].shape;
  bool constant = true;
  std::vector<Value> filled;
  for (size_t i = 0; i < parts.size(); ++i) {
    constant = constant && parts[i].is_constant();
    if (parts[i].shape.size() == shape.size() && parts[i].shape[at] > 0) filled.push_back(parts[i]);
    if (i == 0) continue;
    Shape other = parts[i].shape;
    if (other.size() == shape.size()) other[at] = shape[at];
    if (other != shape) {
      return Status::Invalid(
          fmt::format("{} does not fit {} on axis {}", ShapeText(parts[i].shape), ShapeText(parts[0].shape), axis));
    }
    shape[at] += parts[i].shape[at];
  }
  if (filled.size() == 1) return filled[0];
  if (!constant) return c->Emit("concat", filled, {Numbers("axis", {axis})});
  HONE_ASSIGN_OR_RETURN(const int64_t count, Reserve(c, shape));
  Tensor out;
  out.type = parts[0].constant->type;
  out.shape = shape;
  int64_t outer = 1;
  for (size_t i = 0; i < at; ++i) outer *= shape[i];
  const bool floats = IsFloating(out.type);
  for (const Value& part : parts) {
    if (IsFloating(part.constant->type) != floats) return Status::Invalid("its inputs are of different types");
  }
  for (int64_t o = 0; o < (count > 0 ? outer : 0); ++o) {
    for (const Value& part : parts) {
      const Tensor& in = *part.constant;
      const int64_t inner = in.Elements() / outer;
      if (floats) {
        out.floats.insert(out.floats.end(), in.floats.begin() + o * inner, in.floats.begin() + (o + 1) * inner);
      } else {
        out.ints.insert(out.ints.end(), in.ints.begin() + o * inner, in.ints.begin() + (o + 1) * inner);
      }
    }
  }
  return ConstantValue(std::move(out));
}

Result<Value> Gather(NodeContext* c, const Value& x, int64_t axis, const Shape& indices, const Shape& index_shape) {
  const auto at = static_cast<size_t>(axis);
  const int64_t extent = x.shape[at];
  Shape from;
  for (int64_t index : indices) {
    if (index < -extent || index >= extent) {
      return Status::Invalid(fmt::format("index {} is outside of axis {} of {}", index, axis, ShapeText(x.shape)));
    }
    from.push_back(index < 0 ? index + extent : index);
  }
  Shape shape(x.shape.begin(), x.shape.begin() + axis);
  shape.insert(shape.end(), index_shape.begin(), index_shape.end());
  shape.insert(shape.end(), x.shape.begin() + axis + 1, x.shape.end());
  Shape flat = x.shape;
  flat[at] = static_cast<int64_t>(from.size());
  if (!x.is_constant()) {
    if (from.empty()) return Status::Unsupported("its result is empty");
    // A run of neighbours is a slice.
    bool run = true;
    for (size_t i = 1; i < from.size(); ++i) run = run && from[i] == from[i - 1] + 1;
    if (!run) {
      if (semantics::IndexRuns(from).size() > semantics::kMostIndexRuns) {
        HONE_ASSIGN_OR_RETURN(const Value parts, GatherParts(c, x, axis, from));
        return Reshape(c, parts, shape);
      }
      return c->Emit("gather", {x}, {Numbers("axis", {axis}), Numbers("indices", from), Numbers("shape", index_shape)});
    }
    Shape begin(x.shape.size(), 0);
    begin[at] = from[0];
    HONE_ASSIGN_OR_RETURN(const Value part, Slice(c, x, begin, flat, Shape(x.shape.size(), 1)));
    return Reshape(c, part, shape);
  }
  HONE_ASSIGN_OR_RETURN(const int64_t elements, Reserve(c, flat));
  HONE_RETURN_IF_ERROR(CountElements(shape).status());
  if (elements == 0) return EmptyConstant(x.constant->type, shape);
  std::vector<Shape> tables;
  for (int64_t n : x.shape) tables.push_back(Count(n));
  tables[at] = from;
  Scale(x.shape, &tables);
  return Reshape(c, Take(*x.constant, flat, tables), shape);
}

Result<Value> Expand(NodeContext* c, const Value& x, const Shape& wanted) {
  HONE_ASSIGN_OR_RETURN(const Shape shape, BroadcastShape(x.shape, wanted));
  if (shape == x.shape) return x;
  if (!x.is_constant()) return c->Emit("expand", {x}, {Numbers("shape", shape)});
  HONE_ASSIGN_OR_RETURN(const int64_t elements, Reserve(c, shape));
  if (elements == 0) return EmptyConstant(x.constant->type, shape);
  Shape padded(shape.size() - x.shape.size(), 1);
  padded.insert(padded.end(), x.shape.begin(), x.shape.end());
  std::vector<Shape> tables;
  for (size_t i = 0; i < shape.size(); ++i) {
    tables.push_back(padded[i] == 1 ? Shape(static_cast<size_t>(shape[i]), 0) : Count(shape[i]));
  }
  Scale(padded, &tables);
  return Take(*x.constant, shape, tables);
}

Result<Value> Tile(NodeContext* c, const Value& x, const Shape& repeats) {
  if (repeats.size() != x.shape.size()) {
    return Status::Invalid(fmt::format("{} repeats for a tensor of {} dimensions", repeats.size(), x.shape.size()));
  }
  Value out = x;
  for (size_t axis = repeats.size(); axis-- > 0;) {
    if (repeats[axis] == 1) continue;
    if (repeats[axis] < 0 || repeats[axis] > 4096) {
      return Status::Unsupported(fmt::format("{} repeats are not supported: 0 to 4096", repeats[axis]));
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
      return Status::Invalid(fmt::format("padding of {} and {} is out of range", low[i], high[i]));
    }
    shape[i] += low[i] + high[i];
    none = none && low[i] == 0 && high[i] == 0;
    if (mode != "constant" && x.shape[i] == 0) return Status::Invalid("there is nothing to pad with");
  }
  if (none) return x;
  if (!x.is_constant()) {
    return c->Emit("pad", {x}, {Numbers("low", low), Numbers("high", high), Word("mode", mode), Real("value", value)});
  }
  HONE_ASSIGN_OR_RETURN(const int64_t elements, Reserve(c, shape));
  if (elements == 0) return EmptyConstant(x.constant->type, shape);
  std::vector<Shape> tables;
  for (size_t i = 0; i < shape.size(); ++i) {
    tables.push_back(Count(shape[i]));
    for (int64_t& index : tables.back()) index = PadIndex(index - low[i], x.shape[i], mode);
  }
  Scale(x.shape, &tables);
  return Take(*x.constant, shape, tables, value);
}

}  // namespace hone::onnx
