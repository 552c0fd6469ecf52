#include "command/load_graph.h"

#include "base/file.h"
#include "graph/param_file.h"

namespace hone::command {

Result<std::optional<graph::ParameterValues>> LoadParameterFile(const std::string& path) {
  if (path.empty()) return std::optional<graph::ParameterValues>();
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  HONE_ASSIGN_OR_RETURN(graph::ParameterValues values, graph::ParseParameterFile(bytes, path));
  return std::optional<graph::ParameterValues>(std::move(values));
}

}  // namespace hone::command
