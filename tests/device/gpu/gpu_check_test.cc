// gpu_check itself, on OpenCL and a few small layers: so that the program that machines with a GPU are checked with is
// known to run before it gets there.
#include <gtest/gtest.h>

#include <optional>

#include "base/file.h"
#include "base/json.h"
#include "base/subprocess.h"

namespace hone {
namespace {

class GpuCheck : public testing::Test {
 protected:
  void SetUp() override {
    Result<TempDir> dir = TempDir::Create("hone-gpu-check-test");
    ASSERT_TRUE(dir.ok()) << dir.status().message();
    dir_.emplace(std::move(*dir));
    // As DeviceChain has it (cli/chain): what any device is at least, PoCL too.
    ASSERT_TRUE(WriteFileAtomic(dir_->Join("opencl.json"),
                                R"({"kind": "opencl", "threads_per_block": 256, "block": [256, 256, 64],
                                    "shared_bytes": 32768})")
                    .ok());
  }

  CommandResult Check(const std::vector<std::string>& workloads) {
    std::vector<std::string> argv = {GPU_CHECK, "--target", dir_->Join("opencl.json"), "--points",
                                     "1",       "--out",    dir_->Join("out.json")};
    for (const std::string& workload : workloads) argv.insert(argv.end(), {"--workload", workload});
    CommandOptions options;
    options.timeout_seconds = 240;
    const Result<CommandResult> result = RunCommand(argv, options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? *result : CommandResult{{1, 0}, "", ""};
  }

  // "no OpenCL: ..", "no OpenCL device: ..": any other error is one.
  static bool WithoutOpenCl(const CommandResult& result) {
    return result.err.find("error: no OpenCL") != std::string::npos;
  }

  std::optional<TempDir> dir_;
};

TEST_F(GpuCheck, FindsTemplatesRightOnOpenCl) {
  const CommandResult result = Check({"conv2d(f32[3,12,5,3], f32[33,12,1,1]) + bias + add + relu",
                                      "dense(f32[3,33], f32[17,33]) + bias + relu", "softmax(f32[3,101], axis=1)"});
  if (WithoutOpenCl(result)) GTEST_SKIP() << result.err;
  EXPECT_TRUE(result.status.ok()) << result.out << result.err;
  for (const char* line : {"conv2d_gpu_gemm: holds: 1 of 1 right", "dense_gpu_rows: holds: 1 of 1 right",
                           "softmax_gpu: holds: 1 of 1 right", "conv2d_gpu_tensor: not for this device: 0 of 0 right",
                           " templates tried, all right"}) {
    EXPECT_NE(result.out.find(line), std::string::npos) << line << "\n" << result.out;
  }
  const Result<Json> json = ReadJsonFile(dir_->Join("out.json"));
  ASSERT_TRUE(json.ok()) << json.status().message();
  EXPECT_GT((*json)["templates"].size(), 20U);
}

TEST_F(GpuCheck, WhatItCannotCheckIsNotRight) {
  const CommandResult result = Check({"conv2d(f32[1,8,5,5], f32[3,7,3,3])"});
  if (WithoutOpenCl(result)) GTEST_SKIP() << result.err;
  EXPECT_EQ(result.status.code, 1) << result.out;
  EXPECT_NE(result.out.find("WRONG: 0 of 0 right, "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("0 of "), std::string::npos) << result.out;
  EXPECT_NE(result.out.find(" templates tried, not all right"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace hone
