// A quantised network as an ONNX model for other engines, in the QDQ form: QuantizeLinear and DequantizeLinear around
// operators of floats, weights of int8 and biases of int32 behind DequantizeLinear. Opset 17.
#pragma once

#include <string>

#include "base/result.h"
#include "graph/integers.h"

namespace hone::onnx {

// The model's bytes; equal input gives equal bytes. `graph` has nodes `quantise` and `dequantise`
// (quantise::InsertPairs), no layouts, and all parameters have values. The grids of weights have zero points of 0.
// Returns kUnsupported, naming the node, for an operator that this writer does not know.
Result<std::string> OnnxModel(const graph::Graph& graph, const graph::WeightGrids& weights,
                              const graph::ParameterValues& values);

}  // namespace hone::onnx
