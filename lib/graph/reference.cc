#include "graph/reference.h"

#include "base/interrupt.h"
#include "semantics/semantics.h"

namespace hone::graph {
Result<TensorValues> RunReference(const Graph& graph, const ParameterValues& parameters,
                                  const std::map<std::string, TensorData>& inputs, int threads) {
  TensorValues live;
  for (const GraphInput& input : graph.inputs) {
    auto found = inputs.find(input.name);
    if (found == inputs.end()) return Status::Invalid("no values for the input `" + input.name + "`");
    if (found->second.type.type != input.type.type || found->second.Elements() != input.type.Elements()) {
      return Status::Invalid("input `{}` is {}, must be {}", input.name, found->second.type.Text(), input.type.Text());
    }
    live[input.name] = found->second.Doubles();
  }
  auto reads = CountReads(graph);
  for (const Node& node : graph.nodes) {
    if (Interrupted()) return Status::Interrupted("interrupted while computing the reference outputs");
    std::vector<const semantics::Values*> operands;
    for (const std::string& name : node.inputs) {
      auto found = live.find(name);
      if (found == live.end()) {
        auto parameter = parameters.find(name);
        if (parameter == parameters.end()) return Status::NotFound("no values for the parameter `" + name + "`");
        found = live.emplace(name, parameter->second.Doubles()).first;
      }
      operands.push_back(&found->second);
    }
    semantics::Values out = semantics::Evaluate(node.workload, operands, threads);
    for (const std::string& name : node.inputs) {
      if (--reads[name] == 0) live.erase(name);
    }
    live[node.name] = std::move(out);
  }
  TensorValues outputs;
  for (const std::string& name : graph.outputs) outputs[name] = std::move(live.at(name));
  return outputs;
}

}  // namespace hone::graph
