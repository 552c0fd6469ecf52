// The order in which a model's nodes are imported.
#pragma once

#include <vector>

#include "base/result.h"
#include "onnx/model.h"

namespace hone::onnx {

// Those that an output needs, each behind what it reads; kInvalid with the nodes of a cycle, or for a tensor that two
// nodes make. Tensors that nothing makes are left to the reader.
Result<std::vector<const ModelNode*>> OrderNodes(const Model& model);

}  // namespace hone::onnx
