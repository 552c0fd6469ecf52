#include "sketch/gpu_kernels.h"

#include <algorithm>
#include <map>
#include <set>

#include "arith/linear.h"
#include "sketch/gpu_cost.h"
#include "sketch/stage_cycles.h"

namespace hone::sketch {
namespace {

constexpr double kOperationsACycle = 2;  // that StageCycles assumes

bool Reduces(const te::TensorNode& node) { return !node.reduce_axes.empty(); }

int64_t StepsOf(const te::TensorNode& node) {
  int64_t steps = 1;
  for (const ir::IterVar& axis : node.reduce_axes) steps *= axis.extent;
  return steps;
}

// Bytes of memory behind what a kernel reads. Neighbouring threads have neighbouring indices of the last axis. What is
// read again comes from the caches.
class Traffic {
 public:
  explicit Traffic(const std::set<const te::TensorNode*>& again) : again_(again) {}

  // Adds the reads of `node`, which is computed for this many values.
  void Add(const te::TensorNode& node, double values) {
    if (!seen_.insert(&node).second) return;
    ForEachAccess(node, [&](const ir::Access& access) {
      const te::TensorNode& read = te::NodeOf(access);
      if (again_.count(&read) > 0) return Add(read, values);
      double apart = 1;
      for (size_t i = 0; i < access.indices.size() && !node.axes.empty(); ++i) {
        const int64_t stride = arith::StrideOf(access.indices[i], node.axes.back().var).value_or(1);
        if (stride != 0) apart = i + 1 < access.indices.size() ? kSector : Real(std::abs(stride));
      }
      double& most = bytes_[&read];
      most = std::max(most, 4 * std::min(values * std::min(apart, kSector), Real(ElementsOf(read.shape))));
    });
  }
  double Bytes() const {
    double sum = 0;
    for (const auto& [tensor, bytes] : bytes_) sum += seen_.count(tensor) > 0 ? 0 : bytes;
    return sum;
  }

 private:
  const std::set<const te::TensorNode*>& again_;
  std::set<const te::TensorNode*> seen_;
  std::map<const te::TensorNode*, double> bytes_;
};

}  // namespace

int64_t GpuKernel::Elements() const { return ElementsOf(stage->shape); }

int64_t GpuKernel::Steps() const {
  int64_t steps = 1;
  for (const te::TensorNode* sum : sums) steps = std::max(steps, StepsOf(*sum));
  return steps;
}

GpuKernels GpuKernelsOf(const te::Tensor& output, bool again) {
  GpuKernels all{output, {}, {}};
  std::vector<const te::TensorNode*> stages;
  StageCycles cycles;
  for (const te::Tensor& t : te::TopologicalOrder({output})) {
    if (!IsStage(*t.node())) continue;
    stages.push_back(t.node());
    if (!again || Reduces(*t.node()) || t.node() == output.node()) continue;
    all.again.push_back(t.node());
    cycles.Set(t.name(), cycles.Of(*t.node()));
  }
  const std::set<const te::TensorNode*> inlined(all.again.begin(), all.again.end());
  // The readers of each tensor. Stages that are computed again do not count: their readers do.
  std::map<const te::TensorNode*, std::set<const te::TensorNode*>> readers;
  for (auto stage = stages.rbegin(); stage != stages.rend(); ++stage) {
    const std::set<const te::TensorNode*> through =
        inlined.count(*stage) > 0 ? readers[*stage] : std::set<const te::TensorNode*>{*stage};
    ForEachAccess(**stage, [&](const ir::Access& access) {
      readers[&te::NodeOf(access)].insert(through.begin(), through.end());
    });
  }
  // The stage in whose threads a reduction is computed; null if it is a kernel.
  const auto home = [&](const te::TensorNode* node) -> const te::TensorNode* {
    if (!Reduces(*node) || readers[node].size() != 1) return nullptr;
    const te::TensorNode* reader = *readers[node].begin();
    return !Reduces(*reader) && ElementsOf(reader->shape) == ElementsOf(node->shape) ? reader : nullptr;
  };
  for (const te::TensorNode* stage : stages) {
    if (inlined.count(stage) > 0 || home(stage) != nullptr) continue;
    GpuKernel kernel{stage, {}, 0, 0};
    if (Reduces(*stage)) kernel.sums.push_back(stage);
    for (const te::TensorNode* other : stages) {
      if (home(other) == stage) kernel.sums.push_back(other);
    }
    Traffic traffic(inlined);
    const double elements = Real(kernel.Elements());
    std::vector<const te::TensorNode*> computed = kernel.sums;
    if (!Reduces(*stage)) computed.push_back(stage);
    for (const te::TensorNode* node : computed) {
      kernel.operations += kOperationsACycle * cycles.Of(*node) * Real(StepsOf(*node));
      traffic.Add(*node, elements * Real(StepsOf(*node)));
    }
    kernel.bytes = traffic.Bytes() + 4 * elements;
    all.kernels.push_back(std::move(kernel));
  }
  return all;
}

}  // namespace hone::sketch
