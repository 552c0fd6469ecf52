#include "library/network_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "graph/memory_plan.h"

namespace hone::library {
namespace {

// How a tensor is stored: its writer and all readers must agree.
struct Storage {
  std::vector<int64_t> physical;
  op::Layout layout = op::Layout::kPlain;
  std::string who;
};

class Planner {
 public:
  Planner(const graph::Graph& graph, const Target& target) : graph_(graph), target_(target) {
    for (size_t i = 0; i < graph.inputs.size(); ++i) inputs_[graph.inputs[i].name] = static_cast<int>(i);
    for (size_t i = 0; i < graph.outputs.size(); ++i) outputs_[graph.outputs[i]] = static_cast<int>(i);
    for (const graph::Parameter& p : graph.parameters) parameters_[p.name] = p.type;
  }

  Result<NetworkPlan> Run() {
    for (const graph::Node& node : graph_.nodes) {
      if (Status s = Add(node); !s.ok()) return s.WithContext("node `" + node.name + "`");
    }
    PlaceArena();
    return std::move(plan_);
  }

 private:
  Status Add(const graph::Node& node) {
    PlannedNode planned;
    planned.name = node.name;
    planned.workload = node.workload;
    HONE_ASSIGN_OR_RETURN(planned.op, op::FindOperator(node.workload.op));
    if (planned.op->OutputType(node.workload) != node.output) {
      return Status::Invalid(fmt::format("the operator makes {}, the graph says {}",
                                         planned.op->OutputType(node.workload).Text(), node.output.Text()));
    }
    const std::vector<op::Operand> operands = planned.op->Operands(node.workload, target_);
    if (operands.size() != node.inputs.size() + 1) {
      return Status::Invalid(
          fmt::format("the operator takes {} operands, the graph gives {}", operands.size() - 1, node.inputs.size()));
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool is_output = i + 1 == operands.size();
      HONE_RETURN_IF_ERROR(AddOperand(node, operands[i], is_output ? node.name : node.inputs[i], is_output, &planned));
    }
    const std::string text = node.workload.Text();
    auto [found, added] = kernels_.emplace(text, static_cast<int>(plan_.workloads.size()));
    if (added) {
      plan_.workloads.push_back(node.workload);
      plan_.uses.push_back(0);
    }
    planned.kernel = found->second;
    ++plan_.uses[static_cast<size_t>(found->second)];
    plan_.nodes.push_back(std::move(planned));
    return Status();
  }

  Status AddOperand(const graph::Node& node, const op::Operand& operand, const std::string& tensor, bool is_output,
                    PlannedNode* planned) {
    PlannedOperand out{operand, tensor, Place::kArena, 0, 0};
    if (operand.role == op::OperandRole::kConstant) {
      auto parameter = parameters_.find(tensor);
      if (parameter == parameters_.end()) {
        return Status::Unsupported(
            fmt::format("its {} must be a parameter, but `{}` is computed", operand.name, tensor));
      }
      if (parameter->second.shape != operand.logical.shape) {
        return Status::Invalid(fmt::format("its {} must be {}, but `{}` is {}", operand.name, operand.logical.Text(),
                                           tensor, parameter->second.Text()));
      }
      out.place = Place::kConstant;
      planned->operands.push_back(std::move(out));
      return Status();
    }
    if (parameters_.count(tensor))
      return Status::Unsupported(fmt::format("its {} must not be a parameter", operand.name));
    const bool external = inputs_.count(tensor) || outputs_.count(tensor);
    if (external && operand.layout != op::Layout::kPlain) {
      return Status::Unsupported(
          fmt::format("`{}` is plain for the caller, but its {} is stored in blocks", tensor, operand.name));
    }
    auto [stored, added] = storage_.emplace(tensor, Storage{operand.physical, operand.layout, node.name});
    if (!added && (stored->second.physical != operand.physical || stored->second.layout != operand.layout)) {
      return Status::Unsupported(fmt::format("`{}` is stored differently by `{}`", tensor, stored->second.who));
    }
    if (auto input = inputs_.find(tensor); input != inputs_.end()) {
      out.place = Place::kInput;
      out.index = input->second;
    } else if (auto output = outputs_.find(tensor); output != outputs_.end()) {
      out.place = Place::kOutput;
      out.index = output->second;
    } else {
      Touch(tensor, operand.PhysicalElements() * operand.logical.type.bytes(), is_output);
    }
    planned->operands.push_back(std::move(out));
    return Status();
  }

  void Touch(const std::string& tensor, int64_t bytes, bool written) {
    const int step = static_cast<int>(plan_.nodes.size());
    if (written) {
      tensors_[tensor] = static_cast<int>(lifetimes_.size());
      lifetimes_.push_back({bytes, step, step});
    } else {
      lifetimes_[static_cast<size_t>(tensors_.at(tensor))].last = step;
    }
  }

  void PlaceArena() {
    const graph::MemoryPlan memory = graph::PlanMemory(lifetimes_);
    plan_.arena_bytes = memory.bytes;
    for (PlannedNode& node : plan_.nodes) {
      for (PlannedOperand& operand : node.operands) {
        if (operand.place == Place::kArena)
          operand.offset = memory.offsets[static_cast<size_t>(tensors_.at(operand.tensor))];
      }
    }
  }

  const graph::Graph& graph_;
  const Target& target_;
  NetworkPlan plan_;
  std::map<std::string, int> inputs_, outputs_, kernels_, tensors_;
  std::map<std::string, TensorType> parameters_;
  std::map<std::string, Storage> storage_;
  std::vector<graph::Lifetime> lifetimes_;
};

}  // namespace

Status Canonicalise(graph::Graph* graph) {
  for (graph::Node& node : graph->nodes) {
    auto canonical = op::ParseChecked(node.workload.Text());
    if (!canonical.ok()) return canonical.status().WithContext("node `" + node.name + "`");
    node.workload = std::move(*canonical);
  }
  return Status();
}

Result<NetworkPlan> PlanNetwork(const graph::Graph& graph, const Target& target) {
  return Planner(graph, target).Run();
}

}  // namespace hone::library
