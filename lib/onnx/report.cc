#include "onnx/report.h"

#include <fmt/format.h>

#include <map>

#include "onnx/operators.h"
#include "onnx/read_model.h"

namespace hone::onnx {

Result<SupportReport> CheckOnnx(const std::string& path, const InputShapes& shapes) {
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
  // The first thing that stands in the way: also attributes, types and shapes.
  const auto imported = Import(model, "check", options);
  report.usable = imported.ok();
  if (imported.ok()) {
    report.text += fmt::format("the model can be used: {} nodes and {} parameters in the graph\n",
                               imported->graph.nodes.size(), imported->graph.parameters.size());
  } else {
    report.text += "the model cannot be used: " + imported.status().message() + "\n";
  }
  return report;
}

}  // namespace hone::onnx
