#include "agree/cuda_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/rng.h"
#include "codegen/cuda/codegen.h"
#include "op/operator.h"
#include "target/cuda_arch.h"
#include "unit/op/gpu_case.h"

namespace hone::agree {
namespace {

// Odd extents, strides, dilations, groups and batches among them.
constexpr const char* kLayers[] = {
    "conv2d(f32[1,16,14,14], f32[32,16,3,3], pad=1,1,1,1) + bias + relu",
    "conv2d(f32[1,5,13,11], f32[7,5,3,3], stride=2x2, pad=1,1,1,1) + bias",
    "conv2d(f32[3,32,9,9], f32[40,32,1,1]) + bias + add + relu",
    "conv2d(f32[1,3,31,31], f32[16,3,7,7], stride=2x2, pad=3,3,3,3)",
    "conv2d(f32[1,6,12,10], f32[8,6,3,3], dilation=2x2, pad=2,2,2,2) + relu6",
    "conv2d(f32[1,8,17,16], f32[8,8,5,5], pad=2,2,2,2)",
    "conv2d(f32[1,16,14,14], f32[16,1,3,3], groups=16, pad=1,1,1,1) + bias + relu6",
    "conv2d(f32[2,8,9,9], f32[12,2,3,3], groups=4, pad=1,1,1,1) + relu",
    "conv3d(f32[1,5,4,7,6], f32[6,5,3,3,3], pad=1) + bias + relu",
    "dense(f32[1,512], f32[10,512]) + bias",
    "dense(f32[32,48], f32[40,48]) + bias",
    "matmul(f32[2,24,20], f32[2,20,16])",
    "matmul(f32[4,70], f32[70,1])",
    "max_pool2d(f32[1,5,13,13], kernel=3x3, stride=2x2, pad=1,1,1,1)",
    "avg_pool2d(f32[2,3,9,9], kernel=3x3, stride=2x2, pad=1,1,1,1)",
    "global_avg_pool(f32[1,20,7,7])",
    "softmax(f32[3,100], axis=1)",
    "concat(f32[1,3,4,4], f32[1,5,4,4], axis=1)",
    "transpose(f32[2,3,4], perm=2,0,1)",
    "layer_norm(f32[3,70], f32[70], f32[70])",
    "lrn(f32[1,7,4,4], size=5)",
    "conv_transpose2d(f32[1,3,5,5], f32[3,4,3,3], stride=2x2)",
};

// With all the shared memory that there is.
Target CudaTarget(const std::string& arch) {
  return *Target::Parse(fmt::format("cuda -arch={} -shared={}", arch, CudaSharedBytes(arch)));
}

bool Has(const Workload& w, const op::Template* t, const std::string& arch) {
  const auto templates = (*op::FindOperator(w))->Templates(w, CudaTarget(arch));
  return std::find(templates.begin(), templates.end(), t) != templates.end();
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

}  // namespace

CudaSample DrawCudaSample(int points, uint64_t seed) {
  CudaSample sample;
  const auto version = codegen::NvrtcVersion("");
  if (!version.ok()) {
    sample.no_nvrtc = version.status().message();
    return sample;
  }
  std::vector<std::string> archs;
  for (const char* arch : {"sm_61", "sm_70", "sm_75", "sm_80", "sm_90"}) {
    (codegen::NvrtcVersion(arch).ok() ? archs : sample.left_out).push_back(arch);
  }
  if (archs.empty()) return sample;
  codegen::CudaOptions options;
  options.warnings_fail = true;
  size_t turn = 0;
  Rng rng(seed);
  for (const char* text : kLayers) {
    const Workload w = *op::ParseChecked(text);
    // The newest has all templates.
    for (const op::Template* t : (*op::FindOperator(w))->Templates(w, CudaTarget("sm_90"))) {
      for (int i = 0; i < points; ++i) {
        size_t tries = 0;
        while (!Has(w, t, archs[turn % archs.size()]) && tries++ < archs.size()) ++turn;
        if (tries > archs.size()) break;
        const Target target = CudaTarget(archs[turn++ % archs.size()]);
        const auto space = t->MakeSpace(w, target);
        const std::optional<uint64_t> index = space.ok() ? space->SampleLegal(rng) : std::nullopt;
        if (!index) break;
        const Config config = space->At(*index);
        const std::string point = fmt::format("{} for {}: {}", text, target.cpu, config.Text());
        const auto function = testing::LowerGpu(w, target, config);
        if (!function.ok()) {
          sample.failures.push_back(point + ": " + function.status().message());
          continue;
        }
        auto code = codegen::CompileToCuda({*function}, target, options);
        const std::string wrong = code.ok() ? Wrong(*code, target) : code.status().message();
        if (!wrong.empty()) sample.failures.push_back(point + ": " + wrong);
        sample.compiled += code.ok();
        sample.templates.insert(t->name());
        if (space->size() == 1) break;
      }
    }
  }
  return sample;
}

}  // namespace hone::agree
