// hone-tune where there is a CUDA driver that is older than Hone needs: the tests' own (unit/device/fake_cuda.cc),
// which children do not look for. Whichever NVRTC is here, it is refused.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "base/text.h"
#include "target/target.h"
#include "task/workload.h"
#include "tune_folder.h"

namespace hone {
namespace {

constexpr char kTooOld[] = "the NVIDIA driver is of CUDA 11; Hone needs CUDA 12";

class CudaDriverTest : public TuneFolder {
 protected:
  void SetUp() override {
    TuneFolder::SetUp();
    ASSERT_EQ(symlink(FAKE_CUDA, Path("libcuda.so.1").c_str()), 0);
    const auto target = Target::Parse("cuda -arch=sm_90");
    const auto workload = Workload::Parse("dense(f32[4,64], f32[32,64])");
    ASSERT_TRUE(target.ok() && workload.ok());
    const std::string text =
        fmt::format(R"({{"version": 1, "id": "{}", "workload": "{}", "target": "{}", "flop": 16384}})",
                    TaskId(*workload, target->Text()), workload->Text(), target->Text());
    ASSERT_TRUE(WriteFileAtomic(Path("t.json"), text).ok());
    ASSERT_TRUE(WriteFileAtomic(Path("cuda.json"), R"({"kind": "cuda", "arch": "sm_90"})").ok());
  }

  CommandResult RunUnderCuda11(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), HONE_TUNE);
    const char* path = std::getenv("LD_LIBRARY_PATH");
    CommandOptions options;
    options.env = {{"FAKE_CUDA_VERSION", "11040"},
                   {"LD_LIBRARY_PATH", dir_->path() + (path != nullptr ? std::string(":") + path : "")}};
    const auto result = RunCommand(arguments, options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? *result : CommandResult();
  }
};

TEST_F(CudaDriverTest, TuningDoesNotBegin) {
  const CommandResult result = RunUnderCuda11({"--find-device", Path("cuda.json"), "--out", Path("found.json")});
  EXPECT_FALSE(result.status.ok());
  EXPECT_NE(result.err.find(kTooOld), std::string::npos) << result.err;
  EXPECT_EQ(Split(std::string(Trim(result.err)), '\n').size(), 1u) << result.err;
  EXPECT_FALSE(Exists(Path("found.json")));
}

TEST_F(CudaDriverTest, ChildrenThatCompileAreToldOfIt) {
  const CommandResult result = RunUnderCuda11({"--task", Path("t.json"), "--compile-only"});
  EXPECT_FALSE(result.status.ok());
  EXPECT_NE(result.out.find(kTooOld), std::string::npos) << result.out << result.err;
}

}  // namespace
}  // namespace hone
