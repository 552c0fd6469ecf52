// Operators that move elements about: of a constant of any type at once, of a tensor of the graph as an operator.
// kInvalid for what does not fit; sizes are counted before anything is allocated.
#pragma once

#include <vector>

#include "onnx/context.h"

namespace hone::onnx {

Result<Value> Reshape(NodeContext* c, const Value& x, const Shape& shape);   // as many elements
Result<Value> Transpose(NodeContext* c, const Value& x, const Shape& perm);  // perm: a permutation, 0 to rank - 1
// Along axis i: begin[i], begin[i] + step[i], .., `count[i]` of them. REQUIRES: all are inside
Result<Value> Slice(NodeContext* c, const Value& x, const Shape& begin, const Shape& count, const Shape& step);
Result<Value> Concat(NodeContext* c, const std::vector<Value>& parts, int64_t axis);
// Indices from 0, row-major in `index_shape`, which takes the place of the axis.
Result<Value> Gather(NodeContext* c, const Value& x, int64_t axis, const Shape& indices, const Shape& index_shape);
Result<Value> Expand(NodeContext* c, const Value& x, const Shape& shape);  // broadcasts; result as numpy has it
Result<Value> Tile(NodeContext* c, const Value& x, const Shape& repeats);
// `low` and `high`: one an axis, at least 0. mode: "constant", "reflect", "edge", "wrap".
Result<Value> Pad(NodeContext* c, const Value& x, const Shape& low, const Shape& high, const std::string& mode,
                  double value);

// The shape of two tensors broadcast as numpy does it.
Result<Shape> BroadcastShape(const Shape& a, const Shape& b);

}  // namespace hone::onnx
