// The order in which a model's nodes are imported.
#pragma once

#include <vector>

#include "base/result.h"
#include "onnx/model.h"

namespace hone::onnx {

// The nodes that an output needs, each behind its inputs; kInvalid with the nodes of a cycle, or for a tensor that two
// nodes make. Tensors that nothing makes are left to the reader.
Result<std::vector<const ModelNode*>> OrderNodes(const Model& model);

}  // namespace hone::onnx
