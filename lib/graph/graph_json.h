// The text form of a graph: nets/NET.graph.json, version 1. doc/reference/graph.md describes the format.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "graph/graph.h"

namespace hone::graph {

inline constexpr int kGraphVersion = 1;

// Equal graphs give equal bytes; ends with a newline.
std::string GraphText(const Graph& graph);

// Loads a plugin that a graph names, so that its operators are known: op::LoadNamedPlugin.
using LoadPlugin = Status (*)(const std::string& file, const std::string& digest);

// Parses and checks (CheckGraph). Returns kInvalid or kUnsupported (newer version, unknown operator, plugins but no
// `load`) with `path` and the place.
Result<Graph> ParseGraph(std::string_view text, const std::string& path, LoadPlugin load = nullptr);
Result<Graph> ReadGraph(const std::string& path, LoadPlugin load);

}  // namespace hone::graph
