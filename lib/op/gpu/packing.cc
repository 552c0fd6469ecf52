#include "op/gpu/packing.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "op/steps.h"

namespace hone::op {
namespace {

constexpr int64_t kThreads = 128;  // per block

std::vector<std::string> Names(const std::vector<ir::IterVar>& axes) {
  std::vector<std::string> names;
  for (const ir::IterVar& axis : axes) names.push_back(axis.var.name());
  return names;
}

int64_t Elements(const std::vector<ir::IterVar>& axes) {
  int64_t product = 1;
  for (const ir::IterVar& axis : axes) product *= axis.extent;
  return product;
}

bool IsReduction(const te::Tensor& t) { return !t.node()->reduce_axes.empty(); }

// Fuses all of `axes` into one loop, in the place of the first.
std::string OneLoop(const std::string& stage, const std::vector<std::string>& axes, const std::string& name,
                    std::vector<Step>* steps) {
  if (axes.size() == 1) return axes[0];
  steps->push_back(Fuse(stage, axes, name));
  return name;
}

class Planner {
 public:
  Planner(const std::vector<te::Tensor>& outputs, const DeviceLimits& limits) : limits_(limits) {
    for (const te::Tensor& t : outputs) outputs_.insert(t.name());
    for (const te::Tensor& t : te::TopologicalOrder(outputs)) {
      if (t.node()->kind == te::TensorKind::kCompute) stages_.push_back(t);
    }
    for (auto t = stages_.rbegin(); t != stages_.rend(); ++t) {
      const std::set<std::string> through = Inlined(*t) ? readers_[t->name()] : std::set<std::string>{t->name()};
      for (const te::Tensor& read : te::InputsOf(*t)) readers_[read.name()].insert(through.begin(), through.end());
    }
  }

  std::vector<Step> Run() {
    for (const te::Tensor& t : stages_) {
      if (Inlined(t)) steps_.push_back(Inline(t.name()));
    }
    for (const te::Tensor& t : stages_) {
      if (IsRoot(t)) Root(t);
    }
    return std::move(steps_);
  }

 private:
  bool Inlined(const te::Tensor& t) const { return outputs_.count(t.name()) == 0 && !IsReduction(t); }

  bool IsRoot(const te::Tensor& t) const { return !Inlined(t) && HomeOf(t) == nullptr; }

  // The output whose threads compute this reduction; null if it is a separate kernel.
  const te::Tensor* HomeOf(const te::Tensor& t) const {
    if (outputs_.count(t.name()) > 0 || !IsReduction(t)) return nullptr;
    const std::set<std::string>& readers = readers_.at(t.name());
    if (readers.size() != 1) return nullptr;
    for (const te::Tensor& reader : stages_) {
      const bool same = reader.name() == *readers.begin() && !IsReduction(reader) &&
                        Elements(reader.node()->axes) == Elements(t.node()->axes);
      if (same) return &reader;
    }
    return nullptr;
  }

  // Computations that pack constants have long expressions for each axis: separate axes keep them short.
  bool Apart(const te::Tensor& t) {
    const std::vector<ir::IterVar>& axes = t.node()->axes;
    const size_t n = axes.size();
    if (IsReduction(t) || n < 2) return false;
    const int64_t others = Elements({axes.begin(), axes.end() - 2});
    if (axes[n - 2].extent > limits_.max_grid[1] || others > limits_.max_grid[2]) return false;
    const std::string& name = t.name();
    const std::vector<std::string> names = Names(axes);
    steps_.push_back(
        Split(name, names[n - 1], {std::min(kThreads, limits_.max_threads_per_block)}, {"gpu.block", "gpu.thread"}));
    if (n > 2) {
      const std::string outer = OneLoop(name, {names.begin(), names.end() - 2}, "gpu.outer", &steps_);
      steps_.push_back(Bind(name, outer, "blockIdx.z"));
    }
    Append(&steps_, {Bind(name, names[n - 2], "blockIdx.y"), Bind(name, "gpu.block", "blockIdx.x"),
                     Bind(name, "gpu.thread", "threadIdx.x")});
    return true;
  }
  void Root(const te::Tensor& t) {
    if (Apart(t)) return;
    const std::string& name = t.name();
    std::vector<std::string> inside;  // reductions in registers of the threads that read them
    if (IsReduction(t)) {
      steps_.push_back(CacheWrite(name, "register", name + ".acc"));
      inside.push_back(name + ".acc");
    }
    for (const te::Tensor& other : stages_) {
      if (const te::Tensor* home = HomeOf(other); home != nullptr && home->name() == name) {
        inside.push_back(other.name());
      }
    }
    const int64_t threads = std::min(kThreads, limits_.max_threads_per_block);
    const std::string all = OneLoop(name, Names(t.node()->axes), "gpu.all", &steps_);
    Append(&steps_, {Split(name, all, {threads}, {"gpu.block", "gpu.thread"}), Bind(name, "gpu.block", "blockIdx.x"),
                     Bind(name, "gpu.thread", "threadIdx.x")});
    for (const std::string& sum : inside) {
      Append(&steps_, {ComputeAt(sum, name, "gpu.thread"), SetScope(sum, "register")});
    }
  }

  const DeviceLimits& limits_;
  std::set<std::string> outputs_;
  std::vector<te::Tensor> stages_;                        // producers first
  std::map<std::string, std::set<std::string>> readers_;  // through inlined tensors
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> PackingSteps(const std::vector<te::Tensor>& outputs, const DeviceLimits& limits) {
  return Planner(outputs, limits).Run();
}

}  // namespace hone::op
