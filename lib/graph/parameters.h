// The values of a graph's parameters: made from their recipes, or read from a file.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "task/tensor_data.h"

namespace hone::graph {

// Values by parameter name, of the parameter's type and logical shape.
using ParameterValues = std::map<std::string, TensorData>;

// All parameters of `graph`. `file` gives those of kind kFile (null if there is none): kNotFound or kInvalid with the
// name for one that is missing there or has another type. A seeded value depends on the graph's seed, the parameter's
// name and its index alone: the same on every platform.
Result<ParameterValues> MakeParameters(const Graph& graph, const ParameterValues* file);

// Those that no node reads (sources of folded ones) are left out; saves memory and nothing else.
void KeepReadParameters(const Graph& graph, ParameterValues* values);

// The parameter file of a graph: named tensors in a binary form of our own (doc/reference/graph.md has it in
// prose). It holds what a foreign model brings, and what we hand to other engines. Little endian:
//   "HONEGPAR"  u32 version = 1  u32 count
//   count times: u32 name length, name, u32 dimensions, i64 extents.., values.. (f32, row-major)
// Version 2, which is written where a tensor is not of f32, has a u32 length and the text of the element type after the
// name.
//   u64: the low half of Digest128 of everything before it

// Of the parameters that nodes of `graph` read, in the graph's order. REQUIRES: values has them.
std::string ParameterFileBytes(const Graph& graph, const ParameterValues& values);

// kCorrupt (truncated, damaged), kUnsupported (newer), kInvalid (no such file format), with `path`.
Result<ParameterValues> ParseParameterFile(std::string_view bytes, const std::string& path);

}  // namespace hone::graph
