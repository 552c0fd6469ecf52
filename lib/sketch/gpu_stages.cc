#include "sketch/gpu_stages.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/integers.h"
#include "base/text.h"
#include "search/space/rules.h"
#include "sketch/gpu_cost.h"
#include "sketch/gpu_kernels.h"
#include "sketch/lines.h"
#include "sketch/stage_cycles.h"

namespace hone::sketch {
namespace {

constexpr int64_t kSharing = 128;  // threads of a block whose threads share reductions

// A point of one kernel.
struct KernelPoint {
  int64_t threads = 1, vector = 1, lanes = 1;
  int64_t rows() const { return kSharing / lanes; }  // reductions of a block whose threads share them
};

struct GpuStages {
  GpuKernels stored, again;
  DeviceLimits limits;
  int64_t most_vector = 1;  // kernels whose last axis is no multiple of it use single values

  bool Inner() const { return !again.again.empty(); }
  const GpuKernels& At(const Config& config) const {
    return Inner() && config.Word("elements") == "again" ? again : stored;
  }
  // Whether threads may share its reductions.
  bool IsLong(const GpuKernel& kernel) const {
    return kernel.Steps() >= 2 * limits.warp_size && kSharing <= limits.max_threads_per_block;
  }
  bool AnyLong() const {
    return std::ranges::any_of(stored.kernels, [&](const GpuKernel& kernel) { return IsLong(kernel); });
  }
  // Vectors of the last axis without a tail, of any kernel.
  std::vector<int64_t> Vectors() const {
    std::vector<int64_t> vectors = {1};
    for (const int64_t v : {2, 4}) {
      const auto has = [&](const GpuKernel& kernel) { return HasVectors(kernel, v); };
      const bool any = std::ranges::any_of(stored.kernels, has) || std::ranges::any_of(again.kernels, has);
      if (any && 4 * v <= limits.vector_bytes) vectors.push_back(v);
    }
    return vectors;
  }
  static bool HasVectors(const GpuKernel& kernel, int64_t vector) {
    const std::vector<ir::IterVar>& axes = kernel.stage->axes;
    return kernel.sums.empty() && !axes.empty() && axes.back().extent % vector == 0;
  }
  KernelPoint PointOf(const GpuKernel& kernel, const Config& config) const {
    KernelPoint point{config.Number("threads"), 1, 1};
    if (IsLong(kernel) && limits.warp_size > 1) point.lanes = config.Number("lanes");
    if (HasVectors(kernel, most_vector) && most_vector > 1) point.vector = config.Number("vector");
    if (point.lanes > 1) point.threads = point.lanes * point.rows();
    return point;
  }
};

search::GpuUse UseOf(const GpuStages& all, const Config& config) {
  search::GpuUse most;
  for (const GpuKernel& kernel : all.At(config).kernels) {
    const KernelPoint p = all.PointOf(kernel, config);
    const int64_t values = p.lanes > 1 ? p.rows() : p.threads * p.vector;
    most.threads[0] = std::max(most.threads[0], p.threads);
    most.blocks[0] = std::max(most.blocks[0], CeilDiv(kernel.Elements(), values));
    if (p.lanes > 1) most.shared_bytes = std::max(most.shared_bytes, 4 * p.threads * std::ssize(kernel.sums));
    const double held = std::min(8.0, kernel.operations / Real(kernel.Steps())) * Real(p.vector);
    const int64_t steps = kernel.sums.empty() ? 0 : CeilDiv(kernel.Steps(), p.lanes);
    most.registers = std::max(most.registers, KernelRegisters(held, steps, p.threads, all.limits));
  }
  return most;
}

// The schedule of this computation that was measured on a GPU before there was a rule: blocks of 128 threads, a value
// each, or a warp each where few values are long sums.
bool IsMeasured(const GpuStages& all, const Config& config) {
  constexpr int64_t kThreads = 128, kFewValues = 16384;
  int64_t lanes = 1;
  for (const GpuKernel& kernel : all.At(config).kernels) {
    if (all.IsLong(kernel) && kernel.Elements() <= kFewValues) lanes = all.limits.warp_size;
  }
  return std::ranges::all_of(config.values, [&](const KnobValue& value) {
    if (value.name == "elements") return value.words[0] == "again";
    const int64_t number = value.numbers[0];
    return value.name == "threads" ? number == kThreads : number == (value.name == "lanes" ? lanes : 1);
  });
}

std::vector<double> StagesCost(const GpuStages& all, const Config& config) {
  constexpr double kDoubt = 2;  // how many times faster than the measured schedule others must seem to be
  GpuCost cost(all.limits);
  for (const GpuKernel& kernel : all.At(config).kernels) {
    const KernelPoint p = all.PointOf(kernel, config);
    const double threads = Real(CeilDiv(kernel.Elements(), p.vector)) * Real(p.lanes);
    cost.Add({.threads = threads,
              .block = Real(p.threads),
              .operations = kernel.operations * Real(p.vector) / Real(p.lanes),
              .rounds = Real(CeilDiv(kernel.Steps(), p.lanes)),
              .bytes = kernel.bytes,
              .meetings = p.lanes > 1 ? std::log2(Real(p.lanes)) : 0});
  }
  std::vector<double> estimate = cost.Estimate();
  if (!IsMeasured(all, config)) estimate[0] += std::log(kDoubt);
  return estimate;
}

class KernelLines : LineWriter {
 public:
  KernelLines(const GpuStages& all, Sketch* sketch) : LineWriter(sketch), all_(all) {}

  void AddAll() {
    for (const std::string& elements : Values("elements", "stored")) {
      Always();
      When("elements", elements);
      const std::vector<Condition> always = conditions_;
      const GpuKernels& kernels = elements == "again" ? all_.again : all_.stored;
      for (const te::TensorNode* stage : kernels.again) Add("inline {}", stage->name);
      for (const GpuKernel& kernel : kernels.kernels) {
        conditions_ = always;
        if (kernel.stage->axes.empty()) continue;
        if (kernel.sums == std::vector{kernel.stage}) Add("cache_write {0} register -> {0}.sums", kernel.stage->name);
        const std::vector<Condition> of_kernel = conditions_;
        for (const std::string& lanes : all_.IsLong(kernel) ? Values("lanes", "1") : Names{"1"}) {
          conditions_ = of_kernel;
          if (all_.IsLong(kernel)) When("lanes", lanes);
          lanes == "1" ? Apart(kernel) : Together(kernel, std::stoll(lanes));
        }
      }
    }
  }

 private:
  // Splits all values over blocks and threads.
  void Map(const std::string& name, Names loops, const std::string& values, const char* threads) {
    if (loops.size() > 1) Add("fuse {} {} -> value", name, Join(loops, " "));
    const std::string all = loops.size() > 1 ? "value" : loops[0];
    Add("split {} {} [{}] -> value.block value.thread", name, all, values);
    Add("bind {} value.block blockIdx.x", name);
    Add("bind {} value.thread {}", name, threads);
  }
  std::string SumName(const GpuKernel& kernel, const te::TensorNode& sum) const {
    return sum.name + (&sum == kernel.stage ? ".sums" : "");
  }

  // A thread for each vector of values.
  void Apart(const GpuKernel& kernel) {
    const std::string& name = kernel.stage->name;
    Names loops = NamesOf(kernel.stage->axes);
    const std::string last = loops.back();
    const bool vectors = all_.most_vector > 1 && GpuStages::HasVectors(kernel, all_.most_vector);
    if (vectors) {
      Add("split {0} {1} [{{vector}}] -> {1}.o {1}.i", name, last);
      loops.back() += ".o";
    }
    Map(name, loops, "{threads}", "threadIdx.x");
    if (vectors) Add("vectorize {} {}.i", name, last);
    for (const te::TensorNode* sum : kernel.sums) InThread(name, SumName(kernel, *sum));
  }

  // Some neighbouring threads for each value.
  void Together(const GpuKernel& kernel, int64_t lanes) {
    const std::string& name = kernel.stage->name;
    Map(name, NamesOf(kernel.stage->axes), fmt::format("{}", kSharing / lanes), "threadIdx.y");
    for (const te::TensorNode* sum : kernel.sums) {
      const std::string of = SumName(kernel, *sum);
      const Names loops = NamesOf(sum->reduce_axes);
      if (loops.size() > 1) Add("fuse {} {} -> step", of, Join(loops, " "));
      Add("split {} {} [{}] -> step.o step.lane", of, loops.size() > 1 ? "step" : loops[0], lanes);
      Add("bind {} step.lane threadIdx.x", of);
      InThread(name, of);
    }
  }

  void InThread(const std::string& name, const std::string& sum) {
    Add("compute_at {} {} value.thread", sum, name);
    Add("set_scope {} register", sum);
  }

  const GpuStages& all_;
};

}  // namespace

Sketch GpuStageNests(const te::Tensor& output, const Target& target) {
  GpuStages all{GpuKernelsOf(output, false), GpuKernelsOf(output, MayComputeAgain(output)), target.limits};
  all.most_vector = all.Vectors().back();
  Sketch sketch;
  sketch.name = "gpu_stages";
  const auto numbers = [&](const char* name, std::vector<int64_t> values) {
    sketch.decisions.push_back(search::Knob::Choice(name, std::move(values)));
  };
  const int64_t warp = target.limits.warp_size;
  std::vector<int64_t> threads = search::NoLarger(target.limits.max_threads_per_block, {64, 128, 256, 512, 1024});
  std::erase_if(threads, [&](int64_t t) { return t < warp || t > target.limits.max_block[0]; });
  if (threads.empty()) threads = {warp};
  numbers("threads", threads);
  if (all.Vectors().size() > 1) numbers("vector", all.Vectors());
  if (all.AnyLong() && warp > 1)
    numbers("lanes", warp >= 16 ? std::vector<int64_t>{1, warp / 4, warp} : std::vector<int64_t>{1, warp});
  if (all.Inner()) sketch.decisions.push_back(search::Knob::Words("elements", {"again", "stored"}));
  KernelLines(all, &sketch).AddAll();
  sketch.use = [all](const Config& config) { return UseOf(all, config); };
  sketch.rules.push_back(search::DeviceRule(target, sketch.use));
  sketch.cost = [all](const Config& config) { return StagesCost(all, config); };
  return sketch;
}

}  // namespace hone::sketch
