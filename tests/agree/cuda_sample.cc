#include "agree/cuda_sample.h"

#include <fmt/format.h>

#include <optional>

#include "agree/gpu_workloads.h"
#include "base/rng.h"
#include "codegen/cuda/codegen.h"
#include "target/cuda_arch.h"
#include "unit/op/gpu_case.h"

namespace hone::agree {
namespace {

// With all the shared memory that there is.
Target CudaTarget(const std::string& arch) {
  return *Target::Parse(fmt::format("cuda -arch={} -shared={}", arch, CudaSharedBytes(arch)));
}

// What is wrong with what the compiler made; "" if nothing.
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

// Draws points and compiles them; the architectures take turns.
class Sampler {
 public:
  explicit Sampler(uint64_t seed) : rng_(seed) {
    options_.warnings_fail = true;
    for (const char* arch : {"sm_61", "sm_70", "sm_75", "sm_80", "sm_90"}) {
      (codegen::NvrtcVersion(arch).ok() ? archs_ : sample.left_out).push_back(arch);
    }
  }

  void Draw(const std::string& name, int points) {
    const std::vector<Workload> workloads = GpuWorkloadsOf(name, CudaTarget("sm_90"));  // the newest has all templates
    has_knobs_ = true;
    for (int i = 0; i < points && !workloads.empty(); ++i) {
      const Workload& w = workloads[static_cast<size_t>(i) % workloads.size()];
      // As often as there are architectures: those without the template are passed.
      for (size_t tries = archs_.size(); tries > 0 && !Compile(name, w, archs_[turn_++ % archs_.size()]); --tries) {
      }
      if (!has_knobs_) return;
    }
  }

  CudaSample sample;

 private:
  // False: nothing was compiled, another architecture may.
  bool Compile(const std::string& name, const Workload& w, const std::string& arch) {
    const Target target = CudaTarget(arch);
    const op::Template* t = FindGpuTemplate(name, w, target);
    if (t == nullptr) return false;
    const auto space = t->MakeSpace(w, target);
    const std::optional<uint64_t> index = space.ok() ? space->SampleLegal(rng_) : std::nullopt;
    if (!index) return false;
    has_knobs_ = space->size() > 1;
    const Config config = space->At(*index);
    const std::string point = fmt::format("{} for {}: {}", w.Text(), arch, config.Text());
    const auto kernel = testing::LowerGpu(w, target, config);
    if (!kernel.ok()) {
      sample.failures.push_back(point + ": " + kernel.status().message());
      return true;
    }
    const auto code = codegen::CompileToCuda(kernel->functions, target, options_);
    const std::string wrong = code.ok() ? Wrong(*code, target) : code.status().message();
    if (!wrong.empty()) sample.failures.push_back(point + ": " + wrong);
    sample.compiled += code.ok();
    sample.packing += code.ok() && kernel->has_prepare;
    sample.templates.insert(name);
    sample.archs.insert(arch);
    return true;
  }

  std::vector<std::string> archs_;  // that an NVRTC here compiles for
  codegen::CudaOptions options_;
  Rng rng_;
  size_t turn_ = 0;
  bool has_knobs_ = true;  // has the template at hand any?
};

}  // namespace

CudaSample DrawCudaSample(int points, uint64_t seed) {
  Sampler sampler(seed);
  const auto version = codegen::NvrtcVersion("");
  if (!version.ok()) {
    sampler.sample.no_nvrtc = version.status().message();
    return sampler.sample;
  }
  for (const op::Template* t : op::AllTemplates().gpu) sampler.Draw(t->name(), points);
  return sampler.sample;
}

}  // namespace hone::agree
