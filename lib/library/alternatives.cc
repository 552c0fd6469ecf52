#include <utility>

#include "library/network_plan.h"
#include "op/operator.h"
#include "semantics/semantics.h"

namespace hone::library {

pipeline::Alternative ToFile(const graph::Alternative& alternative) {
  pipeline::Alternative out;
  out.replaces = alternative.replaces;
  for (const graph::Node& node : alternative.by) out.by.push_back({node.name, node.workload.Text(), node.inputs});
  return out;
}

Result<std::vector<graph::Alternative>> FromFile(const std::vector<pipeline::Alternative>& alternatives) {
  std::vector<graph::Alternative> out;
  for (const pipeline::Alternative& alternative : alternatives) {
    out.push_back({alternative.replaces, {}});
    for (const pipeline::AlternativeNode& node : alternative.by) {
      const std::string what = "alternative `" + node.name + "`";
      Result<Workload> workload = op::ParseChecked(node.workload);
      if (!workload.ok()) return workload.status().WithContext(what);
      Result<TensorType> type = semantics::InferOutput(*workload);
      if (!type.ok()) return type.status().WithContext(what);
      out.back().by.push_back({node.name, std::move(*workload), node.inputs, std::move(*type)});
    }
  }
  return out;
}

std::set<std::string> TaskIds(const graph::Graph& graph, const Target& target) {
  std::set<std::string> ids;
  const std::string text = target.Text();
  for (const graph::Node& node : graph.nodes) ids.insert(TaskId(node.workload, text));
  return ids;
}

}  // namespace hone::library
