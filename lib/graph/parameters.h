// The values of a graph's parameters: computed from their recipes, or read from a file.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/graph.h"
#include "task/tensor_data.h"

namespace hone::graph {

// Values by parameter name, with the parameter's type and logical shape.
using ParameterValues = std::map<std::string, TensorData>;

// The values of all parameters of `graph`. `file` holds values of kind kFile, null if no parameter has it; if it lacks
// one, or has it with another type, returns kNotFound or kInvalid with the name. A seeded value depends only on the
// graph's seed, the parameter's name and the index: it is the same on every platform.
Result<ParameterValues> MakeParameters(const Graph& graph, const ParameterValues* file);

// Drops values that no node reads (such as sources of folded parameters) to save memory.
void KeepReadParameters(const Graph& graph, ParameterValues* values);

// The parameter file of a graph: named tensors in a binary format (doc/reference/graph.md). It holds the values of
// imported models, and values for other engines. Little endian:
//   "HONEGPAR"  u32 version = 1  u32 count
//   count times: u32 name length, name, u32 dimensions, i64 extents.., values.. (f32, row-major)
// In version 2, written if a tensor is not f32, a u32 length and the text of the element type follow the name.
//   u64: the low half of Digest128 of everything before it

// Contains the parameters that nodes of `graph` read, in the graph's order. REQUIRES: values has them.
std::string ParameterFileBytes(const Graph& graph, const ParameterValues& values);

// Returns kCorrupt (truncated, damaged), kUnsupported (newer version) or kInvalid (another format), with `path`.
Result<ParameterValues> ParseParameterFile(std::string_view bytes, const std::string& path);

}  // namespace hone::graph
