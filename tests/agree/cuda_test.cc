// Every template's text for CUDA is taken by NVRTC without a warning, and what comes out keeps the device's limits.
// `cuda_sample` (tests/perf) draws more points.
#include <gtest/gtest.h>

#include "agree/cuda_sample.h"

namespace hone::agree {
namespace {

TEST(AgreeCuda, APointOfEveryTemplateCompilesWithoutAWarning) {
  const CudaSample sample = DrawCudaSample(1, 11);
  if (!sample.no_nvrtc.empty()) GTEST_SKIP() << sample.no_nvrtc;
  for (const std::string& failure : sample.failures) ADD_FAILURE() << failure;
  for (const char* name :
       {"conv2d_gpu_gemm", "conv2d_nchw.cuda", "conv2d_gpu_winograd", "conv2d_nchw_winograd.cuda", "conv2d_gpu_tensor",
        "depthwise_conv2d_nchw.cuda", "conv_gpu_tiles", "conv_gpu", "dense_gpu_rows", "dense_small_batch.gpu",
        "dense_large_batch.gpu", "batch_matmul.cuda", "matmul_gpu", "max_pool2d_gpu", "softmax_gpu"}) {
    EXPECT_TRUE(sample.templates.count(name)) << name;
  }
  for (const std::string& arch : sample.left_out) EXPECT_TRUE(arch == "sm_61" || arch == "sm_70") << arch;
}

}  // namespace
}  // namespace hone::agree
