// Arithmetic: of constants at once, in their own type; of tensors of the graph as operators.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "onnx/context.h"

namespace hone::onnx {

// add sub mul div pow min max, with numpy's broadcasting. Integers of constants: division and remainder as C has them;
// kInvalid for a division by zero.
Result<Value> Binary(NodeContext* c, const std::string& op, const Value& a, const Value& b);

// One of the graph's operators of one operand and the same shape.
Result<Value> Unary(NodeContext* c, const std::string& op, const Value& x, std::vector<Attribute> attributes = {});

// f of two constants' elements, as a constant of type bool.
Result<Value> Compare(NodeContext* c, const Value& a, const Value& b, const std::function<bool(double, double)>& f);

// f of a constant's integers.
Result<Value> MapInts(NodeContext* c, const Value& x, const std::function<int64_t(int64_t)>& f);

// To another type. A float32 tensor of the graph can become float32 alone.
Result<Value> Cast(NodeContext* c, const Value& x, ElementType type);

// condition (a constant) ? a : b, all three broadcast. All must be constant.
Result<Value> Where(NodeContext* c, const Value& condition, const Value& a, const Value& b);

// As numpy's matmul. With a tensor and a constant matrix it is a dense layer, whose weight is tuned and packed.
Result<Value> MatrixProduct(NodeContext* c, const Value& a, const Value& b);

// Constants of float32 and int64. REQUIRES: as many values as the shape has elements.
Value Floats(const Shape& shape, const std::vector<float>& values);
Value Ints(const Shape& shape, const std::vector<int64_t>& values);
// A float32 constant of a shape, or of rank 0, the same everywhere.
Value Filled(const Shape& shape, double value);
inline Value Scalar(double value) { return Filled({}, value); }

}  // namespace hone::onnx
