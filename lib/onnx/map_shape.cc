// Operators that change shapes and move elements.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/arith.h"
#include "onnx/mappers.h"
#include "onnx/moves.h"

namespace hone::onnx {

Status MapIdentity(NodeContext* c) {
  if (c->node().op == "Dropout" && c->Has(2)) {
    HONE_ASSIGN_OR_RETURN(const Shape training, c->Ints(2, "training_mode"));
    // A ratio of 0 drops nothing; any other drops at random.
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
        return Status::Invalid(fmt::format("its shape {} copies an axis that {} does not have", wanted, ShapeText(x)));
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
      return Status::Invalid(fmt::format("{} cannot take the shape {}", ShapeText(x), wanted));
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
  // The graph's own operator, which passes know.
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
      return Status::Invalid(fmt::format("axis {} of {} is not 1, and cannot go", i, ShapeText(x)));
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
  Shape reversed;
  for (size_t i = c->ShapeOf(0).size(); i-- > 0;) reversed.push_back(static_cast<int64_t>(i));
  return c->Set(Transpose(c, c->In(0), c->IntList("perm", reversed)));
}

Status MapConcat(NodeContext* c) {
  std::vector<Value> parts;
  for (size_t i = 0; i < c->InputCount(); ++i) {
    if (!c->Has(i)) return Status::Invalid(fmt::format("its input {} is left out", i));
    parts.push_back(c->In(i));
  }
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

// The channels as blocks of b x b pixels: in mode DCR the block stands before the channel, in CRD behind.
Status MapDepthToSpace(NodeContext* c) {
  const Shape& x = c->ShapeOf(0);
  const int64_t b = c->Int("blocksize", 0);
  const bool crd = c->String("mode", "DCR") == "CRD";
  if (x.size() != 4 || b < 1 || b > 4096 || x[1] % (b * b) != 0) {
    return Status::Invalid(fmt::format("a blocksize of {} does not fit {}", b, ShapeText(x)));
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
    return Status::Invalid(fmt::format("a blocksize of {} does not fit {}", b, ShapeText(x)));
  }
  HONE_ASSIGN_OR_RETURN(const Value parts, Reshape(c, c->In(0), {x[0], x[1], x[2] / b, b, x[3] / b, b}));
  HONE_ASSIGN_OR_RETURN(const Value turned, Transpose(c, parts, {0, 3, 5, 1, 2, 4}));
  return c->Set(Reshape(c, turned, {x[0], x[1] * b * b, x[2] / b, x[3] / b}));
}

}  // namespace hone::onnx
