// gpu_check itself, on OpenCL and a few small layers: makes sure that the program works before it gets to a machine
// with a GPU.
#include "base/json.h"
#include "common/missing.h"
#include "test_folder.h"

namespace hone {
namespace {

class GpuCheck : public TestFolder {
 protected:
  CommandResult Check(const Words& workloads, const Words& more = {}) {
    // As in DeviceChain (cli/chain): the minimum of any device, including PoCL.
    Write("opencl.json", R"({"kind": "opencl", "threads_per_block": 256, "block": [256, 256, 64],
                             "shared_bytes": 32768})");
    Words argv = {GPU_CHECK, "--target", "opencl.json", "--points", "1", "--out", "out.json"};
    for (const std::string& workload : workloads) argv = argv + Words{"--workload", workload};
    return Run(argv + more);
  }
};

TEST_F(GpuCheck, FindsTemplatesRightOnOpenCl) {
  const CommandResult result = Check({"conv2d(f32[3,12,5,3], f32[33,12,1,1]) + bias + add + relu",
                                      "dense(f32[3,33], f32[17,33]) + bias + relu", "softmax(f32[3,101], axis=1)"});
  if (const std::string why = Lacks(result, "OpenCL"); !why.empty()) GTEST_SKIP() << why;
  ExpectOk(result);
  ExpectHas(result.out, {"conv2d_gpu_gemm: holds: 1 of 1 right", "dense_gpu_rows: holds: 1 of 1 right",
                         "gpu_stages: holds: 3 of 3 right", "conv2d_gpu_tensor: not for this device: 0 of 0 right",
                         " templates and rules tried, all right"});
  EXPECT_GT(ReadJson("out.json")["templates"].size(), 10U);
}

// As under compute-sanitizer: tuned templates also run in this process.
TEST_F(GpuCheck, ChecksTheSameInItsOwnProcess) {
  const CommandResult result =
      Check({"dense(f32[3,33], f32[17,33]) + bias + relu", "softmax(f32[3,101], axis=1)"}, {"--here"});
  if (const std::string why = Lacks(result, "OpenCL"); !why.empty()) GTEST_SKIP() << why;
  ExpectOk(result);
  ExpectHas(result.out, {"dense_gpu_rows: holds: 1 of 1 right", "gpu_rows: holds: 2 of 2 right",
                         " templates and rules tried, all right\n"});
}

TEST_F(GpuCheck, ReportsWhatItDidNotBeginInTime) {
  const CommandResult result =
      Check({"softmax(f32[3,101], axis=1)", "softmax(f32[1,7], axis=1)"}, {"--seconds", "1e-9"});
  if (const std::string why = Lacks(result, "OpenCL"); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(result.status.code, 1) << result.out;
  ExpectHas(result.out, {"\n0 of ", " tried, all right; 4 workloads not begun after 1e-09 s\n"});
}

TEST_F(GpuCheck, WhatItCannotCheckIsNotRight) {
  const CommandResult result = Check({"conv2d(f32[1,8,5,5], f32[3,7,3,3])"});
  if (const std::string why = Lacks(result, "OpenCL"); !why.empty()) GTEST_SKIP() << why;
  EXPECT_EQ(result.status.code, 1) << result.out;
  ExpectHas(result.out, {"WRONG: 0 of 0 right, ", "\n0 of ", " templates and rules tried, not all right"});
}

}  // namespace
}  // namespace hone
