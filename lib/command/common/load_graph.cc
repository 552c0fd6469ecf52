#include "command/common/load_graph.h"

#include <cstdlib>

#include "base/file.h"
#include "onnx/import.h"
#include "pipeline/pipeline_file.h"

namespace hone::command {

Result<std::optional<graph::ParameterValues>> LoadParameterFile(const std::string& path,
                                                                const std::vector<std::string>& inputs) {
  if (path.empty()) return std::optional<graph::ParameterValues>();
  HONE_ASSIGN_OR_RETURN(const onnx::InputShapes shapes, onnx::ParseInputShapes(inputs));
  if (pipeline::IsOnnxFile(path)) {
    HONE_ASSIGN_OR_RETURN(onnx::ImportedModel model, onnx::ReadOnnx(path, shapes));
    return std::optional<graph::ParameterValues>(std::move(model.values));
  }
  HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  HONE_ASSIGN_OR_RETURN(graph::ParameterValues values, graph::ParseParameterFile(bytes, path));
  return std::optional<graph::ParameterValues>(std::move(values));
}

Status CheckMemory(const graph::Graph& graph) {
  const Result<std::string> info = ReadFile("/proc/meminfo");
  const std::string key = "MemAvailable:";
  const size_t at = info.ok() ? info->find(key) : std::string::npos;
  if (at == std::string::npos) return Status();  // the kernel does not report it: try
  const double available = std::strtod(info->c_str() + at + key.size(), nullptr) * 1024;
  double bytes = 0;
  for (const graph::Parameter& p : graph.parameters)
    bytes += static_cast<double>(p.type.Elements() * p.type.type.bytes());
  if (bytes <= available) return Status();
  return Status::Unsupported(
      "its parameters take {:.1f} GB, but this machine has {:.1f} GB of memory left; build it on a larger one",
      bytes * 1e-9, available * 1e-9);
}

}  // namespace hone::command
