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

Status CheckBackend(const Target& target) {
  if (target.kind == TargetKind::kCpu) return Status();
  const std::string text = target.Text();
  return Status::NotFound("this version has no backend for targets of kind `" + text.substr(0, text.find(' ')) +
                          "`; only `cpu` is there");
}

}  // namespace hone::command
