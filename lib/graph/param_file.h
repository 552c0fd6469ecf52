// The parameter file of a graph: named tensors in a binary form of our own (doc/reference/graph.md has it in
// prose). It holds what a foreign model brings, and what we hand to other engines. Little endian:
//   "HONEGPAR"  u32 version = 1  u32 count
//   count times: u32 name length, name, u32 dimensions, i64 extents.., values.. (f32, row-major)
// Version 2, which is written where a tensor is not of f32, has a u32 length and the text of the element type after the
// name.
//   u64: the low half of Digest128 of everything before it
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/parameters.h"

namespace hone::graph {

// Of the parameters that nodes of `graph` read, in the graph's order. REQUIRES: values has them.
std::string ParameterFileBytes(const Graph& graph, const ParameterValues& values);

// kCorrupt (truncated, damaged), kUnsupported (newer), kInvalid (no such file format), with `path`.
Result<ParameterValues> ParseParameterFile(std::string_view bytes, const std::string& path);

}  // namespace hone::graph
