// Products of matrices.
#pragma once

#include "onnx/context.h"

namespace hone::onnx {

// As numpy's matmul. With a tensor and a constant matrix it is a dense layer, whose weight is tuned and packed.
Result<Value> MatrixProduct(NodeContext* c, const Value& a, const Value& b);

}  // namespace hone::onnx
