// hone-tune with a CUDA driver that is older than Hone needs: the tests' own (unit/device/fake_cuda.cc), which children
// do not look for. Any NVRTC on this machine is rejected for it.
#include <unistd.h>

#include "tune_folder.h"

namespace hone {
namespace {

constexpr char kTooOld[] = "the NVIDIA driver is of CUDA 11; Hone needs CUDA 12";

class CudaDriverTest : public TuneFolder {
 protected:
  void SetUp() override {
    TuneFolder::SetUp();
    ASSERT_EQ(symlink(FAKE_CUDA, Path("libcuda.so.1").c_str()), 0);
    WriteTask("dense(f32[4,64], f32[32,64])", "cuda -arch=sm_90");
    Write("cuda.json", R"({"kind": "cuda", "arch": "sm_90"})");
  }

  CommandResult RunUnderCuda11(const Words& arguments) {
    const char* path = std::getenv("LD_LIBRARY_PATH");
    return Run(Words{HONE_TUNE} + arguments,
               {{"FAKE_CUDA_VERSION", "11040"},
                {"LD_LIBRARY_PATH", Path("") + (path != nullptr ? std::string(":") + path : "")}});
  }
};

TEST_F(CudaDriverTest, TuningDoesNotBeginAndChildrenThatCompileAreToldOfIt) {
  ExpectRefused(RunUnderCuda11({"--find-device", "cuda.json", "--out", "found.json"}), kMisused, {kTooOld});
  EXPECT_FALSE(Has("found.json"));
  ExpectFails(RunUnderCuda11({"--task", "t.json", "--compile-only"}), {kTooOld});
}

}  // namespace
}  // namespace hone
