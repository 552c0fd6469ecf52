#include "command/pick_best/network_memory.h"

#include <algorithm>
#include <utility>

#include "command/pick_best/finalists.h"
#include "op/operator.h"

namespace hone::command {
namespace {

// The limits to try for a finalist, ascending: the bytes of kernels whose time is within reach of `seconds`.
std::vector<int64_t> BytesInReach(const std::vector<KernelCost>& kernels, double seconds) {
  std::vector<int64_t> bytes;
  for (const KernelCost& k : kernels) {
    if (k.seconds <= kFinalistReach * seconds) bytes.push_back(k.bytes);
  }
  std::sort(bytes.begin(), bytes.end());
  bytes.erase(std::unique(bytes.begin(), bytes.end()), bytes.end());
  return bytes;
}

double Fastest(const std::vector<KernelCost>& kernels, int64_t bound) {
  double seconds = -1;
  for (const KernelCost& k : kernels) {
    if (k.bytes <= bound && (seconds < 0 || k.seconds < seconds)) seconds = k.seconds;
  }
  return seconds;
}

class Bounder {
 public:
  Bounder(const graph::Graph& graph, const pipeline::TaskList& list, const KernelCosts& costs)
      : graph_(graph), list_(list), costs_(costs) {}

  Result<NetworkMemory> Run(double times) {
    HONE_ASSIGN_OR_RETURN(target_, Target::Parse(list_.target));
    HONE_RETURN_IF_ERROR(CountSets());
    memory_.most = static_cast<int64_t>(static_cast<double>(memory_.own) * times);
    HONE_RETURN_IF_ERROR(ChooseForNetwork());
    HONE_RETURN_IF_ERROR(AddAlternatives());
    SpendRest(rest_, &wishes_);
    for (size_t i = 0; i < ids_.size(); ++i) memory_.bounds[ids_[i]] = wishes_[i].bound;
    return std::move(memory_);
  }

 private:
  struct Uses {
    const Workload* workload = nullptr;
    int64_t nodes = 0;
    std::map<std::vector<std::string>, std::string> sets;  // sets of parameters, with the first node that reads them
  };

  Status CountSets() {
    std::set<std::string> read;
    std::set<std::pair<std::string, Layout>> as_data;
    for (const graph::Node& node : graph_.nodes) {
      HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(node.workload));
      const std::vector<Operand> operands = op->Operands(node.workload, target_);
      std::vector<std::string> parameters;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const graph::Parameter* parameter = graph_.FindParameter(node.inputs[i]);
        if (parameter == nullptr) continue;
        if (read.insert(node.inputs[i]).second) {
          memory_.own += parameter->type.Elements() * parameter->type.type.bytes();
        }
        if (operands.at(i).role == OperandRole::kConstant) {
          parameters.push_back(node.inputs[i]);
        } else if (as_data.emplace(node.inputs[i], operands[i].layout).second) {
          memory_.bytes += operands[i].PhysicalBytes();  // stored once for each layout
        }
      }
      if (parameters.empty()) continue;
      Uses& uses = uses_[TaskId(node.workload, list_.target)];
      uses.workload = &node.workload;
      ++uses.nodes;
      const auto [first, added] = uses.sets.emplace(std::move(parameters), node.name);
      if (added) continue;
      shared_.insert(first->second);
      shared_.insert(node.name);
    }
    memory_.tasks = static_cast<int64_t>(uses_.size());
    return Status();
  }

  Status ChooseForNetwork() {
    std::vector<MemoryTask> tasks;
    for (const auto& [id, uses] : uses_) {
      HONE_ASSIGN_OR_RETURN(std::vector<KernelCost> kernels, costs_(id, *uses.workload));
      tasks.push_back({std::move(kernels), uses.nodes, static_cast<int64_t>(uses.sets.size())});
      ids_.push_back(id);
    }
    memory_.chosen = LimitMemory(tasks, memory_.most - memory_.bytes);
    memory_.bytes += memory_.chosen.bytes;
    rest_ = memory_.most - memory_.bytes;
    for (size_t i = 0; i < tasks.size(); ++i) {
      const int64_t bound = memory_.chosen.bounds[i];
      wishes_.push_back({bound, BytesInReach(tasks[i].kernels, Fastest(tasks[i].kernels, bound)), tasks[i].copies});
      memory_.bounds[ids_[i]] = bound;
    }
    return Status();
  }

  // The bytes that become free if other nodes replace this one: 0 if it has no constants (a pool), or if a node that
  // may stay reads the same ones.
  int64_t GivenTo(const std::string& node) const {
    if (shared_.count(node)) return 0;
    const graph::Node* found = graph_.FindNode(node);
    if (found == nullptr) return 0;
    const auto bound = memory_.bounds.find(TaskId(found->workload, list_.target));
    return bound == memory_.bounds.end() ? 0 : bound->second;
  }

  // An alternative whose task is one of the network itself has that task's bound: it counts as one more copy, as far as
  // it is larger than the nodes that it replaces. Returns false if there is no room for it.
  bool AddToOwn(const std::string& id, int64_t given) {
    const int64_t more = std::max<int64_t>(memory_.bounds.at(id) - given, 0);
    if (more > std::max<int64_t>(rest_, 0)) return false;
    rest_ -= more;
    const auto at = static_cast<size_t>(std::find(ids_.begin(), ids_.end(), id) - ids_.begin());
    ++wishes_[at].copies;
    return true;
  }

  Status AddAlternatives() {
    struct Place {
      Workload workload;
      int64_t given = 0, count = 0;
    };
    std::map<std::string, Place> places;
    for (size_t i = 0; i < list_.alternatives.size(); ++i) {
      const pipeline::Alternative& alternative = list_.alternatives[i];
      // All but the last are transforms, which have no constants.
      HONE_ASSIGN_OR_RETURN(Workload workload, op::ParseChecked(alternative.by.back().workload));
      const std::string id = TaskId(workload, list_.target);
      int64_t given = 0;
      for (const std::string& node : alternative.replaces) given += GivenTo(node);
      if (uses_.count(id)) {
        if (!AddToOwn(id, given)) memory_.left_out.insert(i);
        continue;
      }
      Place& place = places[id];
      place.given = place.count == 0 ? given : std::min(place.given, given);
      ++place.count;
      place.workload = std::move(workload);
    }
    for (const auto& [id, place] : places) {
      HONE_ASSIGN_OR_RETURN(const std::vector<KernelCost> kernels, costs_(id, place.workload));
      wishes_.push_back({place.given, BytesInReach(kernels, Fastest(kernels, INT64_MAX)), place.count});
      ids_.push_back(id);
    }
    return Status();
  }

  const graph::Graph& graph_;
  const pipeline::TaskList& list_;
  const KernelCosts& costs_;
  Target target_;
  NetworkMemory memory_;
  int64_t rest_ = 0;                  // bytes left before the limit
  std::map<std::string, Uses> uses_;  // by task
  std::set<std::string> shared_;      // nodes whose constants another node reads as well
  std::vector<std::string> ids_;      // task ids of wishes_
  std::vector<MemoryWish> wishes_;
};

}  // namespace

Result<NetworkMemory> BoundMemory(const graph::Graph& graph, const pipeline::TaskList& list, double times,
                                  const KernelCosts& costs) {
  return Bounder(graph, list, costs).Run(times);
}

}  // namespace hone::command
