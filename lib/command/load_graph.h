// Small things that hone-extract, hone-build and hone-bench share.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "graph/parameters.h"
#include "target/target.h"

namespace hone::command {

// The values in a graph's parameter file; nothing if `path` is empty.
Result<std::optional<graph::ParameterValues>> LoadParameterFile(const std::string& path);

// kUnsupported if the values of the graph's parameters do not fit into the memory that this machine has left.
Status CheckMemory(const graph::Graph& graph);

// An error if this version generates no code for the target's kind.
Status CheckBackend(const Target& target);

}  // namespace hone::command
