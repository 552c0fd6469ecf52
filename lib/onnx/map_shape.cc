// Operators that change shapes and move elements.
#include <algorithm>

#include "onnx/operators.h"
#include "onnx/values.h"

namespace hone::onnx {
namespace {

Status MapIdentity(NodeContext* c) {
  if (c->node().op == "Dropout" && c->Has(2)) {
    HONE_ASSIGN_OR_RETURN(const Shape training, c->Ints(2, "training_mode"));
    // A ratio of 0 drops nothing; any other ratio drops at random.
    std::vector<double> ratio = {0.5};
    if (training != Shape{0} && c->Has(1)) {
      HONE_ASSIGN_OR_RETURN(ratio, c->Reals(1, "ratio"));
    }
    if (training != Shape{0} && ratio != std::vector<double>{0}) {
      return Status::Unsupported("training_mode is not supported: its result is random");
    }
  }
  return c->Set(0, c->In(0));
}

Status MapReshape(NodeContext* c) {
  HONE_ASSIGN_OR_RETURN(Shape shape, c->Ints(1, "shape"));
  const Shape& x = c->ShapeOf(0);
  const bool zeros = c->Int("allowzero", 0) != 0;
  HONE_ASSIGN_OR_RETURN(const int64_t count, CountElements(x));
  const std::string wanted = ShapeText(shape);
  int64_t known = 1;
  size_t open = shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zeros) {
      if (i >= x.size())
        return Status::Invalid("its shape {} copies an axis that {} does not have", wanted, ShapeText(x));
      shape[i] = x[i];
    }
    if (shape[i] == -1) {
      if (open != shape.size()) return Status::Invalid("its shape " + wanted + " leaves two axes open");
      open = i;
      continue;
    }
    if (shape[i] < 0 || (known > 0 && shape[i] > (int64_t{1} << 40) / known)) {
      return Status::Invalid("its shape " + wanted + " is out of range");
    }
    known *= shape[i];
  }
  if (open != shape.size()) {
    if (known == 0 || count % known != 0) {
      return Status::Invalid("{} cannot take the shape {}", ShapeText(x), wanted);
    }
    shape[open] = count / known;
  }
  return c->Set(Reshape(c, c->In(0), shape));
}

Status MapFlatten(NodeContext* c) {
  const Shape& x = c->ShapeOf(0);
  HONE_ASSIGN_OR_RETURN(const int64_t axis, NodeContext::Axis(c->Int("axis", 1), x.size(), true));
  Shape shape = {1, 1};
  for (size_t i = 0; i < x.size(); ++i) shape[static_cast<int64_t>(i) < axis ? 0 : 1] *= x[i];
  // Use the graph's own operator, which the passes know.
  if (axis == 1 && x.size() > 2 && !c->In(0).is_constant()) return c->Set(c->Emit("flatten", {c->In(0)}));
  return c->Set(Reshape(c, c->In(0), shape));
}

Status MapSqueeze(NodeContext* c) {
  const Shape& x = c->ShapeOf(0);
  HONE_ASSIGN_OR_RETURN(Shape axes, c->IntsOf(1, "axes", {}));
  HONE_ASSIGN_OR_RETURN(axes, NodeContext::Axes(axes, x.size()));
  const bool all = axes.empty();
  Shape shape;
  for (size_t i = 0; i < x.size(); ++i) {
    const bool named = std::count(axes.begin(), axes.end(), static_cast<int64_t>(i)) > 0;
    if (named && x[i] != 1) {
      return Status::Invalid("axis {} of {} is not 1, and cannot go", i, ShapeText(x));
    }
    if (!named && !(all && x[i] == 1)) shape.push_back(x[i]);
  }
  return c->Set(Reshape(c, c->In(0), shape));
}

Status MapUnsqueeze(NodeContext* c) {
  const Shape& x = c->ShapeOf(0);
  HONE_ASSIGN_OR_RETURN(Shape axes, c->IntsOf(1, "axes", {}));
  HONE_ASSIGN_OR_RETURN(axes, NodeContext::Axes(axes, x.size() + axes.size()));
  std::sort(axes.begin(), axes.end());
  Shape shape = x;
  for (int64_t axis : axes) shape.insert(shape.begin() + axis, 1);
  return c->Set(Reshape(c, c->In(0), shape));
}

Status MapTranspose(NodeContext* c) {
  Shape reversed = FirstAxes(c->ShapeOf(0).size());
  std::reverse(reversed.begin(), reversed.end());
  return c->Set(Transpose(c, c->In(0), c->IntList("perm", reversed)));
}

Status MapConcat(NodeContext* c) {
  std::vector<Value> parts;
  for (size_t i = 0; i < c->InputCount(); ++i) parts.push_back(c->In(i));
  HONE_ASSIGN_OR_RETURN(const int64_t axis, NodeContext::Axis(c->Int("axis", 1), parts[0].shape.size()));
  return c->Set(Concat(c, parts, axis));
}

Status MapGather(NodeContext* c) {
  const Value& x = c->In(0);
  HONE_ASSIGN_OR_RETURN(const int64_t axis, NodeContext::Axis(c->Int("axis", 0), x.shape.size()));
  HONE_ASSIGN_OR_RETURN(const Shape indices, c->Ints(1, "indices"));
  return c->Set(Gather(c, x, axis, indices, c->ShapeOf(1)));
}

Status MapExpand(NodeContext* c) {
  HONE_ASSIGN_OR_RETURN(const Shape shape, c->Ints(1, "shape"));
  return c->Set(Expand(c, c->In(0), shape));
}

Status MapTile(NodeContext* c) {
  HONE_ASSIGN_OR_RETURN(const Shape repeats, c->Ints(1, "repeats"));
  return c->Set(Tile(c, c->In(0), repeats));
}

// Rearranges channels into blocks of b x b pixels: in mode DCR the block index precedes the channel, in CRD it follows.
Status MapDepthToSpace(NodeContext* c) {
  const Shape& x = c->ShapeOf(0);
  const int64_t b = c->Int("blocksize", 0);
  const bool crd = c->String("mode", "DCR") == "CRD";
  if (x.size() != 4 || b < 1 || b > 4096 || x[1] % (b * b) != 0) {
    return Status::Invalid("a blocksize of {} does not fit {}", b, ShapeText(x));
  }
  const int64_t n = x[0], depth = x[1] / (b * b), h = x[2], w = x[3];
  const Shape split = crd ? Shape{n, depth, b, b, h, w} : Shape{n, b, b, depth, h, w};
  HONE_ASSIGN_OR_RETURN(const Value parts, Reshape(c, c->In(0), split));
  HONE_ASSIGN_OR_RETURN(const Value turned,
                        Transpose(c, parts, crd ? Shape{0, 1, 4, 2, 5, 3} : Shape{0, 3, 4, 1, 5, 2}));
  return c->Set(Reshape(c, turned, {n, depth, h * b, w * b}));
}

Status MapSpaceToDepth(NodeContext* c) {
  const Shape& x = c->ShapeOf(0);
  const int64_t b = c->Int("blocksize", 0);
  if (x.size() != 4 || b < 1 || b > 4096 || x[2] % b != 0 || x[3] % b != 0) {
    return Status::Invalid("a blocksize of {} does not fit {}", b, ShapeText(x));
  }
  HONE_ASSIGN_OR_RETURN(const Value parts, Reshape(c, c->In(0), {x[0], x[1], x[2] / b, b, x[3] / b, b}));
  HONE_ASSIGN_OR_RETURN(const Value turned, Transpose(c, parts, {0, 3, 5, 1, 2, 4}));
  return c->Set(Reshape(c, turned, {x[0], x[1] * b * b, x[2] / b, x[3] / b}));
}

Status MapSlice(NodeContext* c) {
  const Shape& x = c->ShapeOf(0);
  const bool attributes = c->opset() < 10;
  if (!attributes && (!c->Has(1) || !c->Has(2))) return Status::Invalid("its starts and ends are missing");
  HONE_ASSIGN_OR_RETURN(const Shape starts,
                        attributes ? Result<Shape>(c->IntList("starts", {})) : c->Ints(1, "starts"));
  HONE_ASSIGN_OR_RETURN(const Shape ends, attributes ? Result<Shape>(c->IntList("ends", {})) : c->Ints(2, "ends"));
  HONE_ASSIGN_OR_RETURN(Shape axes, attributes || !c->Has(3)
                                        ? Result<Shape>(c->IntList("axes", FirstAxes(starts.size())))
                                        : c->Ints(3, "axes"));
  HONE_ASSIGN_OR_RETURN(const Shape steps,
                        attributes || !c->Has(4) ? Result<Shape>(Shape(starts.size(), 1)) : c->Ints(4, "steps"));
  HONE_ASSIGN_OR_RETURN(axes, NodeContext::Axes(axes, x.size()));
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    return Status::Invalid("its starts, ends, axes and steps are not equally many");
  }
  Shape begin(x.size(), 0), count = x, step(x.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    const int64_t n = x[axis], s = steps[i];
    if (s == 0) return Status::Invalid("its steps must not be 0");
    // As Python has it: from the end if negative, then moved inside; backwards -1 is before the first.
    const auto inside = [n](int64_t at, int64_t least, int64_t most) {
      if (at < 0) at = at < -n ? least : at + n;
      return std::clamp(at, least, most);
    };
    const int64_t from = s > 0 ? inside(starts[i], 0, n) : inside(starts[i], -1, n - 1);
    const int64_t to = s > 0 ? inside(ends[i], 0, n) : inside(ends[i], -1, n - 1);
    const int64_t room = s > 0 ? to - from : from - to;
    // |s| as unsigned: the least number has no positive counterpart.
    const uint64_t size = s > 0 ? static_cast<uint64_t>(s) : 0 - static_cast<uint64_t>(s);
    count[axis] = room <= 0 ? 0 : static_cast<int64_t>((static_cast<uint64_t>(room) - 1) / size) + 1;
    begin[axis] = count[axis] == 0 ? 0 : from;
    step[axis] = count[axis] <= 1 ? 1 : s;
  }
  return c->Set(Slice(c, c->In(0), begin, count, step));
}

Status MapSplit(NodeContext* c) {
  const Shape& x = c->ShapeOf(0);
  HONE_ASSIGN_OR_RETURN(const int64_t axis, NodeContext::Axis(c->Int("axis", 0), x.size()));
  const int64_t extent = x[static_cast<size_t>(axis)];
  HONE_ASSIGN_OR_RETURN(Shape parts, c->IntsOf(1, "split", {}));
  const auto outputs = static_cast<int64_t>(c->node().outputs.size());
  if (parts.empty()) {
    const int64_t number = c->Int("num_outputs", outputs);
    if (number != outputs || (c->opset() < 18 && extent % outputs != 0)) {
      return Status::Invalid("axis {} of {} cannot be split into {}", axis, ShapeText(x), number);
    }
    const int64_t size = (extent + outputs - 1) / outputs;
    for (int64_t left = extent; static_cast<int64_t>(parts.size()) < outputs; left -= parts.back()) {
      parts.push_back(std::min(size, left));
    }
  }
  int64_t sum = 0;
  for (int64_t part : parts) {
    if (part < 0 || part > extent) return Status::Invalid("its split has a part of {}", part);
    sum += part;
  }
  if (sum != extent || static_cast<int64_t>(parts.size()) != outputs) {
    return Status::Invalid("its split {} does not fit axis {} of {}", ShapeText(parts), axis, ShapeText(x));
  }
  Shape begin(x.size(), 0), count = x;
  const Shape step(x.size(), 1);
  for (size_t i = 0; i < parts.size(); ++i) {
    count[static_cast<size_t>(axis)] = parts[i];
    if (!c->node().outputs[i].empty()) {
      HONE_ASSIGN_OR_RETURN(Value part, Slice(c, c->In(0), begin, count, step));
      HONE_RETURN_IF_ERROR(c->Set(i, std::move(part)));
    }
    begin[static_cast<size_t>(axis)] += parts[i];
  }
  return Status();
}

Status MapPad(NodeContext* c) {
  Value x = c->In(0);
  const size_t rank = x.shape.size();
  const std::string mode = c->String("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap") {
    return Status::Invalid("its mode `" + mode + "` is not one of constant, reflect, edge, wrap");
  }
  HONE_ASSIGN_OR_RETURN(const Shape pads, c->IntsOf(1, "pads", {}));
  double value = c->opset() < 11 ? c->Float("value", 0) : 0;
  if (c->Has(2)) {
    HONE_ASSIGN_OR_RETURN(const auto given, c->Reals(2, "constant_value"));
    if (given.size() != 1) return Status::Invalid("its constant_value must be one number");
    value = given[0];
  }
  Shape axes = FirstAxes(rank);
  if (c->Has(3)) {
    HONE_ASSIGN_OR_RETURN(axes, c->Ints(3, "axes"));
    HONE_ASSIGN_OR_RETURN(axes, NodeContext::Axes(axes, rank));
  }
  if (pads.size() != 2 * axes.size()) {
    return Status::Invalid("its pads must be {} numbers, are {}", 2 * axes.size(), pads.size());
  }
  Shape low(rank, 0), high(rank, 0), begin(rank, 0), count = x.shape;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    const int64_t before = pads[i], after = pads[i + axes.size()];
    low[axis] = std::max<int64_t>(before, 0), high[axis] = std::max<int64_t>(after, 0);
    // A negative pad cuts off. Limited so that nothing overflows; one that is too large gives an empty tensor.
    begin[axis] =
        std::min(std::max<int64_t>(before, -x.shape[axis]) < 0 ? -std::max(before, -x.shape[axis]) : 0, x.shape[axis]);
    const int64_t behind = after < 0 ? -std::max(after, -x.shape[axis]) : 0;
    count[axis] = std::max<int64_t>(x.shape[axis] - begin[axis] - behind, 0);
  }
  HONE_ASSIGN_OR_RETURN(x, Slice(c, x, begin, count, Shape(rank, 1)));
  return c->Set(Pad(c, x, low, high, mode, value));
}

}  // namespace

std::vector<OperatorEntry> ShapeOperators() {
  return {
      {"Concat", MapConcat, 1, kAnyNumber, 7},    {"DepthToSpace", MapDepthToSpace, 1, 1, 7},
      {"Dropout", MapIdentity, 1, 3, 7},          {"Expand", MapExpand, 2, 2, 8},
      {"Flatten", MapFlatten, 1, 1, 7},           {"Gather", MapGather, 2, 2, 7},
      {"Identity", MapIdentity, 1, 1, 7},         {"Pad", MapPad, 1, 4, 7},
      {"Reshape", MapReshape, 2, 2, 7},           {"Slice", MapSlice, 1, 5, 7},
      {"SpaceToDepth", MapSpaceToDepth, 1, 1, 7}, {"Split", MapSplit, 1, 2, 7},
      {"Squeeze", MapSqueeze, 1, 2, 7},           {"Tile", MapTile, 2, 2, 7},
      {"Transpose", MapTranspose, 1, 1, 7},       {"Unsqueeze", MapUnsqueeze, 1, 2, 7},
  };
}

}  // namespace hone::onnx
