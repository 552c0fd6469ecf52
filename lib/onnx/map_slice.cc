// Slice, Split and Pad.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "onnx/arith.h"
#include "onnx/mappers.h"
#include "onnx/moves.h"

namespace hone::onnx {

Status MapSlice(NodeContext* c) {
  const Shape& x = c->ShapeOf(0);
  const bool attributes = c->opset() < 10;
  if (!attributes && (!c->Has(1) || !c->Has(2))) return Status::Invalid("its starts and ends are missing");
  HONE_ASSIGN_OR_RETURN(const Shape starts,
                        attributes ? Result<Shape>(c->IntList("starts", {})) : c->Ints(1, "starts"));
  HONE_ASSIGN_OR_RETURN(const Shape ends, attributes ? Result<Shape>(c->IntList("ends", {})) : c->Ints(2, "ends"));
  Shape all;
  for (size_t i = 0; i < starts.size(); ++i) all.push_back(static_cast<int64_t>(i));
  HONE_ASSIGN_OR_RETURN(Shape axes,
                        attributes || !c->Has(3) ? Result<Shape>(c->IntList("axes", all)) : c->Ints(3, "axes"));
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
      return Status::Invalid(fmt::format("axis {} of {} cannot be split into {}", axis, ShapeText(x), number));
    }
    const int64_t size = (extent + outputs - 1) / outputs;
    for (int64_t left = extent; static_cast<int64_t>(parts.size()) < outputs; left -= parts.back()) {
      parts.push_back(std::min(size, left));
    }
  }
  int64_t sum = 0;
  for (int64_t part : parts) {
    if (part < 0 || part > extent) return Status::Invalid(fmt::format("its split has a part of {}", part));
    sum += part;
  }
  if (sum != extent || static_cast<int64_t>(parts.size()) != outputs) {
    return Status::Invalid(
        fmt::format("its split {} does not fit axis {} of {}", ShapeText(parts), axis, ShapeText(x)));
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
  Shape axes;
  for (size_t i = 0; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  if (c->Has(3)) {
    HONE_ASSIGN_OR_RETURN(axes, c->Ints(3, "axes"));
    HONE_ASSIGN_OR_RETURN(axes, NodeContext::Axes(axes, rank));
  }
  if (pads.size() != 2 * axes.size()) {
    return Status::Invalid(fmt::format("its pads must be {} numbers, are {}", 2 * axes.size(), pads.size()));
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

}  // namespace hone::onnx
