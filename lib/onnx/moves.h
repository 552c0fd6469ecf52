// Operators that move elements: applied at once to a constant of any type, or added as an operator for a tensor of the
// graph. They return kInvalid if the arguments do not fit, and count sizes before they allocate anything.
#pragma once

#include <vector>

#include "onnx/context.h"

namespace hone::onnx {

Result<Value> Reshape(NodeContext* c, const Value& x, const Shape& shape);   // keeps the number of elements
Result<Value> Transpose(NodeContext* c, const Value& x, const Shape& perm);  // perm is a permutation of 0 to rank - 1
// Along axis i takes begin[i], begin[i] + step[i], .., `count[i]` elements. REQUIRES: all are inside
Result<Value> Slice(NodeContext* c, const Value& x, const Shape& begin, const Shape& count, const Shape& step);
Result<Value> Concat(NodeContext* c, const std::vector<Value>& parts, int64_t axis);
// Indices count from 0 and are row-major in `index_shape`, which replaces the axis.
Result<Value> Gather(NodeContext* c, const Value& x, int64_t axis, const Shape& indices, const Shape& index_shape);
Result<Value> Expand(NodeContext* c, const Value& x, const Shape& shape);  // broadcasts; shape as in numpy
Result<Value> Tile(NodeContext* c, const Value& x, const Shape& repeats);
// `low` and `high` have one entry per axis, at least 0. mode: "constant", "reflect", "edge", "wrap".
Result<Value> Pad(NodeContext* c, const Value& x, const Shape& low, const Shape& high, const std::string& mode,
                  double value);

// The common shape of two tensors under numpy's broadcasting.
Result<Shape> BroadcastShape(const Shape& a, const Shape& b);

}  // namespace hone::onnx
