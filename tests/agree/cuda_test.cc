// Every template's text for CUDA is taken by NVRTC without a warning, and what comes out keeps the device's limits.
// `cuda_sample` (tests/perf) draws more points.
#include <gtest/gtest.h>

#include "agree/cuda_sample.h"
#include "op/operator.h"

namespace hone::agree {
namespace {

TEST(AgreeCuda, PointsOfEveryTemplateCompileWithoutAWarning) {
  const CudaSample sample = DrawCudaSample(4, 11);
  if (!sample.no_nvrtc.empty()) GTEST_SKIP() << sample.no_nvrtc;
  for (const std::string& failure : sample.failures) ADD_FAILURE() << failure;
  for (const op::Template* t : op::AllTemplates().gpu) EXPECT_TRUE(sample.templates.count(t->name())) << t->name();
  EXPECT_GT(sample.packing, 0) << "no point had constants to pack";
  for (const std::string& arch : sample.left_out) {
    EXPECT_TRUE(arch == "sm_61" || arch == "sm_70") << arch << " (NVRTC 13 begins at sm_75)";
  }
  for (const char* arch : {"sm_75", "sm_80", "sm_90"}) EXPECT_TRUE(sample.archs.count(arch)) << arch;
  EXPECT_EQ(sample.archs.size() + sample.left_out.size(), 5U);
}

}  // namespace
}  // namespace hone::agree
