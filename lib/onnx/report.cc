#include <fmt/format.h>

#include <map>

#include "onnx/import.h"
#include "onnx/operators.h"
#include "onnx/read_model.h"

namespace hone::onnx {

Result<SupportReport> CheckOnnx(const std::string& path, const InputShapes& shapes, const GraphCheck& further) {
  HONE_ASSIGN_OR_RETURN(const Model model, ReadModel(path));
  struct Row {
    int count = 0;
    std::string why;  // empty: supported
  };
  std::map<std::string, Row> rows;
  for (const ModelNode& node : model.nodes) {
    Row& row = rows[node.domain.empty() ? node.op : node.domain + "::" + node.op];
    ++row.count;
    const Status status = CheckNodeKind(node, model.Opset());
    if (!status.ok() && row.why.empty()) {
      row.why = fmt::format("{}: {}", NodeText(node, model), status.message());
    }
  }
  SupportReport report;
  report.text =
      fmt::format("{}: opset {}, {} nodes, {} operators\n", path, model.Opset(), model.nodes.size(), rows.size());
  size_t missing = 0;
  for (const auto& [name, row] : rows) {
    if (row.why.empty()) {
      report.text += fmt::format("  {:<24} {:>5}  supported\n", name, row.count);
    } else {
      ++missing;
      report.text += fmt::format("  {:<24} {:>5}  NOT supported: {}\n", name, row.count, row.why);
    }
  }
  report.text += fmt::format("{} operators supported, {} not\n", rows.size() - missing, missing);
  ImportOptions options;
  options.shapes = shapes;
  // The first problem of the whole model, including attributes, types and shapes.
  auto imported = Import(model, "check", options);
  Status status = imported.status();
  std::string size;
  if (imported.ok()) {
    size = fmt::format("{} nodes and {} parameters in the graph", imported->graph.nodes.size(),
                       imported->graph.parameters.size());
    status = further(&imported->graph);
  }
  report.usable = status.ok();
  report.text +=
      status.ok() ? "the model can be used: " + size + "\n" : "the model cannot be used: " + status.message() + "\n";
  return report;
}

}  // namespace hone::onnx
