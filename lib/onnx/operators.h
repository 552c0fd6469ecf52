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
  std::string name;  // in the rows of the files: the names of all operators with these values
  // Called after CheckNodeKind, and before attributes of wrong types are reported. Errors lack the node's name.
  Status (*map)(NodeContext* c);
  size_t least, most;       // number of inputs; the last ones may be omitted
  int64_t first_opset;      // the first opset with it; 7, the oldest supported one, if it is older
  std::string graph = {};   // the graph's operator that GraphOperator returns, if it has another name
  std::string domain = {};  // "com.microsoft", for what quantisers write beside ONNX's own operators
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
std::vector<OperatorEntry> QuantisedOperators();

// Sorted by name.
const std::vector<OperatorEntry>& Operators();

// Null if it is not supported.
const OperatorEntry* FindOperatorEntry(const std::string& name);
// The graph's operator for a node: OperatorEntry::graph, else "hard_sigmoid" for `HardSigmoid`.
std::string GraphOperator(const NodeContext& c);

// Why a node is unsupported whatever its inputs are; ok if that depends on the inputs. Returns kUnsupported for an
// operator that is not in the table, has another domain or is newer than the model's opset; kInvalid for a wrong number
// of inputs.
Status CheckNodeKind(const ModelNode& node, int64_t opset);

}  // namespace hone::onnx
