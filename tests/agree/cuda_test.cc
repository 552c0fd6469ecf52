// NVRTC accepts the text of every template and rule of sketches for CUDA without a warning, and the result stays within
// the device's limits. `cuda_sample` (tests/perf) draws more points.
#include <gtest/gtest.h>

#include "agree/cuda_sample.h"
#include "agree/gpu_workloads.h"

namespace hone::agree {
namespace {

// Shared by all tests, as it takes a while.
const CudaSample& Sample() {
  static const CudaSample sample = DrawCudaSample(2, 11);
  return sample;
}

void ExpectEveryTemplateFor(const std::string& arch) {
  for (const std::string& name : GpuSourceNames()) {
    if (name == "conv2d_gpu_tensor" && arch == "sm_70") continue;  // the template needs sm_80
    const auto found = Sample().archs.find(name);
    ASSERT_NE(found, Sample().archs.end()) << name;
    EXPECT_TRUE(found->second.count(arch)) << name << " for " << arch;
  }
}

TEST(AgreeCuda, PointsOfEveryTemplateCompileWithoutAWarning) {
  const CudaSample& sample = Sample();
  if (!sample.no_nvrtc.empty()) GTEST_SKIP() << sample.no_nvrtc;
  for (const std::string& failure : sample.failures) ADD_FAILURE() << failure;
  for (const char* arch : {"sm_80", "sm_90"}) ExpectEveryTemplateFor(arch);
  EXPECT_GT(sample.packing, 0) << "no point had constants to pack";
  EXPECT_LE(10 * sample.without_point, sample.compiled) << "too many workloads have no legal point";
  std::set<std::string> archs = sample.left_out;
  for (const std::string& arch : sample.left_out) {
    EXPECT_TRUE(arch == "sm_61" || arch == "sm_70") << arch << " (NVRTC 13 begins at sm_75)";
  }
  for (const auto& [name, of_template] : sample.archs) archs.insert(of_template.begin(), of_template.end());
  EXPECT_EQ(archs, std::set<std::string>({"sm_61", "sm_70", "sm_75", "sm_80", "sm_90"}));
}

TEST(AgreeCuda, PointsOfEveryTemplateCompileForSm70) {
  if (!Sample().no_nvrtc.empty()) GTEST_SKIP() << Sample().no_nvrtc;
  if (Sample().left_out.count("sm_70")) GTEST_SKIP() << "no NVRTC 12 is here, and 13 begins at sm_75";
  ExpectEveryTemplateFor("sm_70");
}

// doc/internals/gpu.md has the shares of layers of networks, which are higher: these are small and odd.
TEST(AgreeCuda, RegistersStayWithinTheirEstimate) {
  const CudaSample& sample = Sample();
  if (!sample.no_nvrtc.empty()) GTEST_SKIP() << sample.no_nvrtc;
  ASSERT_GT(sample.estimated, 30);
  EXPECT_GE(100 * sample.within, 85 * sample.estimated) << sample.within << " of " << sample.estimated;
  EXPECT_LE(100 * sample.spilled, 2 * sample.estimated) << sample.spilled << " of " << sample.estimated;
}

}  // namespace
}  // namespace hone::agree
