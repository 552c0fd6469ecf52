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

// An error if this version generates no code for the target's kind.
Status CheckBackend(const Target& target);

}  // namespace hone::command
