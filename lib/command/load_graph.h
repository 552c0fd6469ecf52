// Small things that hone-extract, hone-build and hone-bench share.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "graph/parameters.h"

namespace hone::command {

// The values in a graph's parameter file; nothing if `path` is empty.
Result<std::optional<graph::ParameterValues>> LoadParameterFile(const std::string& path);

// Logs a failure. 0 for ok, 2 for a wrong input, 75 if interrupted, else 1.
int ExitCodeOf(const Status& status);

}  // namespace hone::command
