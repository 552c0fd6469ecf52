#include "graph/single.h"

#include "op/operator.h"
#include "target/target.h"

namespace hone::graph {

bool IsWorkload(const std::string& network) { return network.find('(') != std::string::npos; }

Result<Graph> GraphOfWorkload(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(text));
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  Graph graph;
  graph.name = workload.OperatorText();
  Node node;
  node.name = "out";
  node.workload = workload;
  // Logical shapes are those of any target.
  for (const Operand& operand : op->Operands(workload, Target())) {
    if (operand.role == OperandRole::kOutput) continue;
    node.inputs.push_back(operand.name);
    if (operand.role == OperandRole::kData) {
      graph.inputs.push_back({operand.name, operand.logical});
      continue;
    }
    // He's values for weights: what comes out is of the order of what goes in. A bias has no inputs to speak of.
    Parameter parameter{operand.name, operand.logical, {InitKind::kUniform, -1, 1, 1, {}, 0}};
    const std::vector<int64_t>& shape = operand.logical.shape;
    if (shape.size() >= 2) parameter.init = {InitKind::kHe, 0, 0, operand.logical.Elements() / shape[0], {}, 0};
    graph.parameters.push_back(std::move(parameter));
  }
  graph.nodes.push_back(std::move(node));
  graph.outputs = {"out"};
  HONE_RETURN_IF_ERROR(CheckGraph(&graph));
  return graph;
}

}  // namespace hone::graph
