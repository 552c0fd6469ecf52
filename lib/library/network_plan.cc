#include "library/network_plan.h"

#include <algorithm>

#include "base/check.h"
#include "library/backend.h"
#include "library/sharing.h"
#include "semantics/semantics.h"

namespace hone::library {
namespace {

// The storage of a tensor, on which its writer and all readers must agree.
struct Storage {
  std::vector<int64_t> physical;
  Layout layout = Layout::kPlain;
  std::string who;
};

void PlaceArena(NetworkPlan* plan) {
  const graph::MemoryPlan memory = graph::PlanMemory(plan->buffers, plan->alignment);
  plan->arena_bytes = memory.bytes;
  for (PlannedNode& node : plan->nodes) {
    for (PlannedOperand& operand : node.operands) {
      if (operand.place != Place::kArena) continue;
      const auto [buffer, offset] = plan->tensors.at(operand.tensor);
      operand.offset = memory.offsets[buffer] + offset;
    }
  }
}

class Planner {
 public:
  Planner(const graph::Graph& graph, const Target& target, bool slices) : graph_(graph), target_(target) {
    if (slices) slices_ = FindConcatSlices(graph, target);
    for (size_t i = 0; i < graph.inputs.size(); ++i) inputs_[graph.inputs[i].name] = static_cast<int>(i);
    for (size_t i = 0; i < graph.outputs.size(); ++i) outputs_[graph.outputs[i]] = static_cast<int>(i);
    for (const graph::Parameter& p : graph.parameters) parameters_[p.name] = p.type;
  }

  Result<NetworkPlan> Run() {
    for (const graph::Node& node : graph_.nodes) {
      if (Status s = Add(node); !s.ok()) return s.WithContext("node `" + node.name + "`");
    }
    HONE_ASSIGN_OR_RETURN(const Backend* backend, FindBackend(target_));
    plan_.alignment = backend->buffer_alignment();
    PlaceArena(&plan_);
    return std::move(plan_);
  }

 private:
  Status Add(const graph::Node& node) {
    PlannedNode planned{.name = node.name, .workload = node.workload};
    HONE_ASSIGN_OR_RETURN(planned.op, op::FindOperator(node.workload));
    HONE_ASSIGN_OR_RETURN(const TensorType output, semantics::InferOutput(node.workload));
    if (output != node.output) {
      return Status::Invalid("the operator makes {}, the graph says {}", output.Text(), node.output.Text());
    }
    const std::vector<Operand> operands = planned.op->Operands(node.workload, target_);
    if (OnlyNames(node, operands)) {
      same_[node.name] = std::string(Own(node.inputs[0]));
      return Status();
    }
    if (operands.size() != node.inputs.size() + 1) {
      return Status::Invalid("the operator takes {} operands, the graph gives {}", operands.size() - 1,
                             node.inputs.size());
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool is_output = i + 1 == operands.size();
      HONE_RETURN_IF_ERROR(AddOperand(node, operands[i], is_output ? node.name : node.inputs[i], is_output, &planned));
    }
    if (slices_.wholes.count(node.name)) {  // its parts are written directly into it
      ++plan_.slices;
      return Status();
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

  // kPlain for everything that has the same bytes: blocks of one channel, a single pixel with channels last.
  Layout LayoutOf(const Operand& operand) const {
    return OneOrder(operand.logical, operand.layout) ? Layout::kPlain : operand.layout;
  }
  bool OneOrder(const TensorType& type, Layout layout) const {
    if (layout == Layout::kBlocked) return target_.ChannelBlock() == 1;
    if (layout == Layout::kPlain) return true;
    const std::vector<int64_t>& s = type.shape;
    return s[1] == 1 || semantics::Product(s, 2, s.size()) == 1;
  }
  Layout OutsideLayout(const TensorType& type) const {
    const Layout layout = graph::OutsideLayout(graph_, type);
    return OneOrder(type, layout) ? Layout::kPlain : layout;
  }

  // A node that changes only a tensor's shape does not change the bytes if both are row-major; on a device all tensors
  // are, also those that a CPU has in blocks. Such a node does nothing if the output is the network's own and each
  // tensor is contiguous.
  bool OnlyNames(const graph::Node& node, const std::vector<Operand>& operands) const {
    if (node.workload.chain() || !semantics::DefinitionOf(node.workload).keeps_order) return false;
    if (!std::ranges::all_of(operands, [&](const Operand& o) { return LayoutOf(o) == Layout::kPlain; })) return false;
    if (!node.workload.epilogue.empty() || node.inputs.size() != 1 || outputs_.count(node.name)) return false;
    const std::string from = Own(node.inputs[0]);
    for (const std::string& tensor : {node.name, from}) {
      if (parameters_.count(tensor) || slices_.parts.count(tensor) || slices_.wholes.count(tensor)) return false;
    }
    return true;
  }

  // The tensor that owns these bytes.
  const std::string& Own(const std::string& tensor) const {
    auto found = same_.find(tensor);
    return found == same_.end() ? tensor : found->second;
  }

  Status AddOperand(const graph::Node& node, const Operand& operand, const std::string& given, bool is_output,
                    PlannedNode* planned) {
    const std::string tensor = Own(given);
    PlannedOperand out{operand, tensor, Place::kArena, 0, 0};
    // A parameter in the place of an activation is stored once, in the kernel's layout.
    if (operand.role == OperandRole::kConstant || parameters_.count(tensor)) {
      auto parameter = parameters_.find(tensor);
      if (parameter == parameters_.end()) {  // of an alternative; Canonicalise has checked the others
        return Status::Invalid("its {} must be a parameter; `{}` is not one", operand.name, tensor);
      }
      if (parameter->second.shape != operand.logical.shape) {
        return Status::Invalid("its {} must be {}, but `{}` is {}", operand.name, operand.logical.Text(), tensor,
                               parameter->second.Text());
      }
      out.place = Place::kConstant;
      planned->operands.push_back(std::move(out));
      return Status();
    }
    const bool external = inputs_.count(tensor) || outputs_.count(tensor);
    const Layout layout = LayoutOf(operand);
    if (external && layout != OutsideLayout(operand.logical)) {
      return Status::Unsupported("`{}` is {} for the caller, but its {} is {}", tensor,
                                 LayoutName(OutsideLayout(operand.logical)), operand.name, LayoutName(layout));
    }
    auto [stored, added] = storage_.emplace(tensor, Storage{operand.physical, layout, node.name});
    // Two row-major tensors of one buffer differ only in their shapes.
    const bool same =
        stored->second.layout == layout && (layout == Layout::kPlain || stored->second.physical == operand.physical);
    if (!added && !same) {
      return Status::Unsupported("`{}` is stored differently by `{}`", tensor, stored->second.who);
    }
    if (auto input = inputs_.find(tensor); input != inputs_.end()) {
      out.place = Place::kInput;
      out.index = input->second;
    } else if (auto output = outputs_.find(tensor); output != outputs_.end()) {
      out.place = Place::kOutput;
      out.index = output->second;
    } else {
      Touch(tensor, operand.PhysicalBytes(), is_output);
    }
    planned->operands.push_back(std::move(out));
    return Status();
  }

  // A part of a concatenation uses the whole, which lives from its first part on.
  void Touch(const std::string& tensor, int64_t bytes, bool written) {
    const int step = static_cast<int>(plan_.nodes.size());
    const Slice slice = slices_.Find(tensor);
    auto whole = slices_.wholes.find(slice.whole);
    auto [at, added] = buffers_.emplace(slice.whole, plan_.buffers.size());
    if (added) {
      plan_.buffers.push_back({whole == slices_.wholes.end() ? bytes : whole->second, step, step});
      if (whole != slices_.wholes.end()) plan_.shared.insert(at->second);
    }
    // Removed nodes neither read nor write.
    if (written) plan_.tensors[tensor] = {at->second, slice.offset};
    graph::Lifetime& lifetime = plan_.buffers[at->second];
    lifetime.last = std::max(lifetime.last, step);
  }

  const graph::Graph& graph_;
  const Target& target_;
  NetworkPlan plan_;
  ConcatSlices slices_;
  std::map<std::string, size_t> buffers_;  // by the tensor that spans the buffer
  std::map<std::string, int> inputs_, outputs_, kernels_;
  std::map<std::string, TensorType> parameters_;
  std::map<std::string, Storage> storage_;
  std::map<std::string, std::string> same_;  // tensors that are another name for the bytes of another tensor
};

}  // namespace

static TensorType StoredType(const graph::Graph& graph, const TensorType& type) {
  return {type.type, semantics::StoredShape(type.shape, graph::OutsideLayout(graph, type))};
}

std::vector<NamedType> InputsOf(const graph::Graph& graph) {
  std::vector<NamedType> inputs;
  for (const graph::GraphInput& input : graph.inputs) inputs.emplace_back(input.name, StoredType(graph, input.type));
  return inputs;
}

std::vector<NamedType> OutputsOf(const graph::Graph& graph) {
  std::vector<NamedType> outputs;
  for (const std::string& output : graph.outputs)
    outputs.emplace_back(output, StoredType(graph, graph.FindNode(output)->output));
  return outputs;
}

// Kernels pack constants once, before they run.
static Status CheckConstants(const graph::Graph& graph, const graph::Node& node) {
  const auto op = op::FindOperator(node.workload);
  if (!op.ok()) return op.status();
  const std::vector<Operand> operands = (*op)->Operands(node.workload, Target());  // roles are those of all targets
  for (size_t i = 0; i < node.inputs.size() && i < operands.size(); ++i) {
    const std::string& tensor = node.inputs[i];
    if (operands[i].role != OperandRole::kConstant || graph.FindParameter(tensor) != nullptr) continue;
    return Status::Unsupported("its {} must be a parameter, but `{}` is {}", operands[i].name, tensor,
                               graph.FindInput(tensor) != nullptr ? "an input of the network" : "computed");
  }
  return Status();
}

Status Canonicalise(graph::Graph* graph) {
  for (graph::Node& node : graph->nodes) {
    auto canonical = op::ParseChecked(node.workload.Text());
    if (!canonical.ok()) return canonical.status().WithContext("node `" + node.name + "`");
    node.workload = std::move(*canonical);
    HONE_RETURN_IF_ERROR(CheckConstants(*graph, node).WithContext("node `" + node.name + "`"));
  }
  return Status();
}

Result<NetworkPlan> PlanNetwork(const graph::Graph& graph, const Target& target, bool slices) {
  return Planner(graph, target, slices).Run();
}

int WriteInPlace(const std::vector<bool>& in_place, const Target& target, NetworkPlan* plan) {
  int count = 0;
  for (size_t step = 0; step < plan->nodes.size(); ++step) {
    const PlannedNode& node = plan->nodes[step];
    const PlannedOperand& out = node.operands.back();
    const int residual = in_place[static_cast<size_t>(node.kernel)] ? ResidualOperand(node.workload, target) : -1;
    if (residual < 0 || out.place != Place::kArena) continue;
    const PlannedOperand& over = node.operands[static_cast<size_t>(residual)];
    if (over.place != Place::kArena) continue;
    const size_t from = plan->tensors.at(over.tensor).first, to = plan->tensors.at(out.tensor).first;
    if (plan->shared.count(from) || plan->shared.count(to)) continue;
    if (plan->buffers[from].last != static_cast<int>(step) || plan->buffers[from].bytes != plan->buffers[to].bytes)
      continue;
    // A convolution reads more of its data than the element that it is about to write.
    int readers = 0;
    for (const PlannedOperand& operand : node.operands) {
      readers += operand.place == Place::kArena && plan->tensors.at(operand.tensor).first == from;
    }
    if (readers != 1) continue;
    plan->buffers[from].last = plan->buffers[to].last;
    plan->buffers[to] = {0, plan->buffers[from].first, plan->buffers[from].first};
    for (auto& [tensor, at] : plan->tensors) {
      if (at.first == to) at.first = from;
    }
    ++count;
  }
  PlaceArena(plan);
  return count;
}

pipeline::Alternative ToFile(const graph::Alternative& alternative) {
  pipeline::Alternative out{.replaces = alternative.replaces};
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
