// Small things that hone-extract, hone-build and hone-bench share.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "graph/parameters.h"

namespace hone::command {

// The values in a graph's parameter file; nothing if `path` is empty.
Result<std::optional<graph::ParameterValues>> LoadParameterFile(const std::string& path);

}  // namespace hone::command
