// The table of ONNX operators: doc/reference/onnx.md has it in prose.
#pragma once

#include <string>
#include <vector>

#include "onnx/context.h"

namespace hone::onnx {

struct OperatorEntry {
  const char* name;
  Status (*map)(NodeContext* c);
  size_t least, most;   // inputs; the last ones may be left out
  int64_t first_opset;  // that has it
};

// Sorted by name.
const std::vector<OperatorEntry>& Operators();

// Null: not supported.
const OperatorEntry* FindOperatorEntry(const std::string& name);

// Adds what `c`'s node means. Errors without the node's name. kUnsupported for an operator that is not in the table, of
// another domain or younger than the model's opset; kInvalid for a wrong number of inputs.
Status MapNode(NodeContext* c);

// Why a node cannot be supported whatever its inputs are; ok if that depends on them.
Status CheckNodeKind(const ModelNode& node, int64_t opset);

}  // namespace hone::onnx
