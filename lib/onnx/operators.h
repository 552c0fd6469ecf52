// The table of ONNX operators; doc/reference/onnx.md describes it. Each kind has a file map_KIND.cc, with the rows of
// the table and one function per operator, which checks a node and adds its meaning to the graph.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "onnx/context.h"

namespace hone::onnx {

inline constexpr size_t kAnyNumber = std::numeric_limits<size_t>::max();

struct OperatorEntry {
  const char* name;
  // Called after the number of inputs is checked, and before attributes of wrong types are reported.
  Status (*map)(NodeContext* c);
  size_t least, most;           // number of inputs; the last ones may be omitted
  int64_t first_opset;          // the first opset with it; 7, the oldest supported one, if it is older
  const char* graph = nullptr;  // if `map` serves several operators, the one to make
};

std::vector<OperatorEntry> WindowOperators();
std::vector<OperatorEntry> MatmulOperators();
std::vector<OperatorEntry> EinsumOperators();
std::vector<OperatorEntry> ElementwiseOperators();
std::vector<OperatorEntry> ConstantOperators();  // those whose operands must be constant
std::vector<OperatorEntry> ShapeOperators();
std::vector<OperatorEntry> ReduceOperators();
std::vector<OperatorEntry> NormOperators();
std::vector<OperatorEntry> ResizeOperators();

// Sorted by name.
const std::vector<OperatorEntry>& Operators();

// Null if it is not supported.
const OperatorEntry* FindOperatorEntry(const std::string& name);
// OperatorEntry::graph for a node whose entry in the table has one.
inline std::string GraphOperator(const NodeContext& c) { return FindOperatorEntry(c.node().op)->graph; }

// Adds the meaning of `c`'s node. Errors do not include the node's name. Returns kUnsupported for an operator that is
// not in the table, has another domain or is newer than the model's opset; kInvalid for a wrong number of inputs.
Status MapNode(NodeContext* c);

// Why a node is unsupported whatever its inputs are; ok if that depends on the inputs.
Status CheckNodeKind(const ModelNode& node, int64_t opset);

}  // namespace hone::onnx
