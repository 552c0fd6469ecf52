#include "command/extract/workload_graph.h"

#include <utility>
#include <vector>

#include "op/operator.h"
#include "target/target.h"

namespace hone::command {

Result<graph::Graph> GraphOfWorkload(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(text));
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  graph::Graph graph;
  graph.name = workload.OperatorText();
  graph::Node node{.name = "out", .workload = workload};
  // Logical shapes do not depend on the target.
  for (const Operand& operand : op->Operands(workload, Target())) {
    if (operand.role == OperandRole::kOutput) continue;
    node.inputs.push_back(operand.name);
    if (operand.role == OperandRole::kData) {
      graph.inputs.push_back({operand.name, operand.logical});
      continue;
    }
    // He initialisation for weights keeps values at the scale of the input. A bias has no fan-in.
    graph::Parameter parameter{operand.name, operand.logical, {graph::InitKind::kUniform, -1, 1, 1, {}, 0}};
    const std::vector<int64_t>& shape = operand.logical.shape;
    if (shape.size() >= 2) parameter.init = {graph::InitKind::kHe, 0, 0, operand.logical.Elements() / shape[0], {}, 0};
    graph.parameters.push_back(std::move(parameter));
  }
  graph.nodes.push_back(std::move(node));
  graph.outputs = {"out"};
  HONE_RETURN_IF_ERROR(graph::CheckGraph(&graph));
  return graph;
}

}  // namespace hone::command
