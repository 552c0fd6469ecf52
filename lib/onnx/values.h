// Values made of others: constants are computed at once, in their own type; tensors of the graph become operators.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onnx/context.h"

namespace hone::onnx {

// add sub mul div pow min max, with numpy's broadcasting. For constant integers, division and remainder work as in C,
// and division by zero returns kInvalid.
Result<Value> Binary(NodeContext* c, const std::string& op, const Value& a, const Value& b);

// One of the graph's operators with one operand that keep the shape.
Result<Value> Unary(NodeContext* c, const std::string& op, const Value& x, std::vector<Attribute> attributes = {});

// f of the elements of two constants, as a constant of type bool. REQUIRES: both are constant
Result<Value> Compare(NodeContext* c, const Value& a, const Value& b, const std::function<bool(double, double)>& f);

// f of each integer of a constant.
Result<Value> MapInts(NodeContext* c, const Value& x, const std::function<int64_t(int64_t)>& f);

// The element type of a constant or of a tensor of the graph.
ElementType TypeOf(const Value& value);

// Converts to another type. A tensor of the graph can only become float32.
Result<Value> Cast(NodeContext* c, const Value& x, ElementType type);

// condition ? a : b, broadcast. REQUIRES: all three are constant
Result<Value> Where(NodeContext* c, const Value& condition, const Value& a, const Value& b);

// As numpy's matmul. A tensor times a constant matrix becomes a dense layer, whose weight is tuned and packed.
Result<Value> MatrixProduct(NodeContext* c, const Value& a, const Value& b);

// Constants of float32 and int64. REQUIRES: as many values as the shape has elements.
Value Floats(const Shape& shape, const std::vector<float>& values);
Value Ints(const Shape& shape, const std::vector<int64_t>& values);
// A float32 constant with one value everywhere; the shape may be of rank 0.
Value Filled(const Shape& shape, double value);
inline Value Scalar(double value) { return Filled({}, value); }

// The next ones move elements, of any type. They return kInvalid if the arguments do not fit, and count sizes before
// they allocate anything.

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

Shape FirstAxes(size_t count);  // 0, 1, .. count - 1

// The common shape of two tensors under numpy's broadcasting.
Result<Shape> BroadcastShape(const Shape& a, const Shape& b);

}  // namespace hone::onnx
