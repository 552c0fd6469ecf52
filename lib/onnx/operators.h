// The table of ONNX operators: doc/reference/onnx.md has it in prose. Each kind is a file, map_KIND.cc: a function an
// operator, which checks a node and adds its meaning to the graph, and the rows of the table.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "onnx/context.h"

namespace hone::onnx {

inline constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

struct OperatorEntry {
  const char* name;
  // The number of inputs is checked before, wrong types of attributes behind it.
  Status (*map)(NodeContext* c);
  size_t least, most;           // inputs; the last ones may be left out
  int64_t first_opset;          // that has it; 7, the oldest supported, if older
  const char* graph = nullptr;  // the operator that `map` makes, where it makes one of several
};

std::vector<OperatorEntry> WindowOperators();
std::vector<OperatorEntry> MatmulOperators();
std::vector<OperatorEntry> EinsumOperators();
std::vector<OperatorEntry> ElementwiseOperators();
std::vector<OperatorEntry> ConstantOperators();  // what has to be constant
std::vector<OperatorEntry> ShapeOperators();
std::vector<OperatorEntry> ReduceOperators();
std::vector<OperatorEntry> NormOperators();
std::vector<OperatorEntry> ResizeOperators();

// Sorted by name.
const std::vector<OperatorEntry>& Operators();

// Null: not supported.
const OperatorEntry* FindOperatorEntry(const std::string& name);
// OperatorEntry::graph of a node that is in the table and has one.
inline std::string GraphOperator(const NodeContext& c) { return FindOperatorEntry(c.node().op)->graph; }

// Adds what `c`'s node means. Errors without the node's name. kUnsupported for an operator that is not in the table, of
// another domain or younger than the model's opset; kInvalid for a wrong number of inputs.
Status MapNode(NodeContext* c);

// Why a node cannot be supported whatever its inputs are; ok if that depends on them.
Status CheckNodeKind(const ModelNode& node, int64_t opset);

}  // namespace hone::onnx
