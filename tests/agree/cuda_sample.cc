#include "agree/cuda_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "agree/gpu_workloads.h"
#include "common/nvrtc.h"
#include "unit/op/gpu_case.h"

namespace hone::agree {
namespace {

// With the largest shared memory of the architecture.
Target CudaTarget(const std::string& arch) {
  return *Target::Parse(fmt::format("cuda -arch={} -shared={}", arch, CudaSharedBytes(arch)));
}

// The problem of the compiled code; "" if it is right.
std::string Wrong(const codegen::CudaCode& code, const Target& target) {
  for (const codegen::KernelResources& r : code.resources) {
    if (r.registers < 1 || r.registers > target.limits.registers_per_thread) {
      return fmt::format("{}: {} registers", r.symbol, r.registers);
    }
    if (r.shared_bytes > target.limits.shared_bytes_per_block) {
      return fmt::format("{}: {} bytes of shared memory", r.symbol, r.shared_bytes);
    }
  }
  return code.resources.empty() ? "no kernel" : "";
}

// Draws points and compiles them.
class Sampler {
 public:
  explicit Sampler(uint64_t seed) : rng_(seed) {
    options_.warnings_fail = true;
    for (const char* arch : {"sm_70", "sm_80", "sm_90"}) Add(arch, &every_);
    for (const char* arch : {"sm_61", "sm_75"}) Add(arch, &turns_);
  }

  void Draw(const std::string& name, int points) {
    const std::vector<Workload> workloads = GpuWorkloadsOf(name, CudaTarget("sm_90"));  // the newest has all templates
    has_knobs_ = true;
    for (int i = 0; i < points && !workloads.empty(); ++i) {
      const Workload& w = workloads[static_cast<size_t>(i) % workloads.size()];
      point_.reset();
      for (const std::string& arch : every_) Compile(name, w, arch);
      if (!turns_.empty()) Compile(name, w, turns_[turn_++ % turns_.size()]);
      if (!has_knobs_) return;
    }
  }

  CudaSample sample;

 private:
  void Add(const char* arch, std::vector<std::string>* archs) {
    if (NoNvrtcFor(arch).empty()) {
      archs->push_back(arch);
    } else {
      sample.left_out.insert(arch);
    }
  }

  // The same point as for other architectures or, if that is not legal here, another one.
  std::optional<PointIndex> Choose(const search::Space& space) {
    if (point_) {
      const Result<PointIndex> same = space.IndexOf(*point_);
      if (same.ok() && space.Legal(*same)) return *same;
    }
    return space.SampleLegal(rng_);
  }

  void Compile(const std::string& name, const Workload& w, const std::string& arch) {
    const Target target = CudaTarget(arch);
    const std::optional<GpuSource> source = FindGpuSource(name, w, target);
    if (!source) return;  // not available for this architecture
    const search::Space* space = &source->space;
    const std::optional<PointIndex> index = Choose(*space);
    sample.without_point += !index;
    if (!index) return;
    has_knobs_ = space->size() > 1;
    const Config config = space->At(*index);
    point_ = config;
    const std::string point = fmt::format("{} for {}: {}", w.Text(), arch, config.Text());
    const auto candidate = source->candidate(config);
    const auto kernel =
        candidate.ok() ? testing::LowerGpu(w, target, *candidate) : Result<compile::LoweredKernel>(candidate.status());
    if (!kernel.ok()) {
      sample.failures.push_back(point + ": " + kernel.status().message());
      return;
    }
    const auto code = codegen::CompileToCuda(kernel->functions, target, options_);
    const std::string wrong = code.ok() ? Wrong(*code, target) : code.status().message();
    if (!wrong.empty()) sample.failures.push_back(point + ": " + wrong);
    sample.compiled += code.ok();
    sample.packing += code.ok() && kernel->has_prepare;
    sample.archs[name].insert(arch);
    if (source->use && code.ok()) Compare(*code, source->use(config));
  }

  // Compares the kernels of the first entry: the other one packs, and has no estimate.
  void Compare(const codegen::CudaCode& code, const search::GpuUse& use) {
    int64_t registers = 0, spilled = 0;
    for (size_t i = 0; i < code.artifact.entries[0].launches.size() && i < code.resources.size(); ++i) {
      registers = std::max(registers, code.resources[i].registers);
      spilled += code.resources[i].spill_bytes;
    }
    ++sample.estimated;
    sample.within += registers <= use.MostRegisters();
    sample.spilled += spilled > 0;
  }

  std::vector<std::string> every_, turns_;  // those that an NVRTC on this machine supports
  codegen::CudaOptions options_;
  Rng rng_;
  size_t turn_ = 0;
  bool has_knobs_ = true;        // whether the current template has any
  std::optional<Config> point_;  // the previous architecture's point
};

}  // namespace

CudaSample DrawCudaSample(int points, uint64_t seed) {
  Sampler sampler(seed);
  sampler.sample.no_nvrtc = NoNvrtcFor("sm_90");
  if (!sampler.sample.no_nvrtc.empty()) return sampler.sample;
  for (const std::string& name : GpuSourceNames()) sampler.Draw(name, points);
  return sampler.sample;
}

}  // namespace hone::agree
