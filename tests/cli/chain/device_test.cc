// GPUs through the whole chain with the real tools: the errors on a machine without one, and a network on OpenCL
// (PoCL).
#include <regex>

#include "base/json.h"
#include "chain_folder.h"
#include "common/missing.h"

namespace hone {
namespace {

class DeviceChain : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    Write("pipelines/targets/cuda.toml", "kind = \"cuda\"\narch = \"sm_80\"\n");
    Write("pipelines/targets/opencl.toml",
          "kind = \"opencl\"\nthreads_per_block = 256\nblock = [256, 256, 64]\nshared_bytes = 32768\n");
    WritePipeline("one", 4);
    Write("pipelines/one.toml", ReplaceAll(Read("pipelines/one.toml"), "targets = [\"cpu\"]\n",
                                           "targets = [\"cpu\"]\non_request = [\"cuda\", \"opencl\"]\n") +
                                    "[tune.opencl]\ntrials = 3\n");
    ExpectOk(Plan());
  }

  // A function of run-gpu-checks, run in a shell with its `work`, `target`, `net` and `tool`.
  CommandResult OfChecks(const std::string& function, const std::string& call) {
    const std::string text = Must(ReadFile("packaging/cuda/run-gpu-checks"));
    const size_t begin = text.find("\n" + function + "() {"), end = text.find("\n}\n", begin);
    EXPECT_NE(end, std::string::npos) << function;
    return Run({"bash", "-c",
                "work=" + Path("work") + " tool=" + Path("bin") + " target=opencl net=one\n" +
                    text.substr(begin, end + 3 - begin) + call});
  }

  std::string NoOpenCl() { return Lacks(Tool("hone-tune", {"--describe-device", "opencl"}), "OpenCL"); }
};

TEST_F(DeviceChain, WithoutACudaDeviceOneMessageSaysWhatIsMissingAndWhatToDo) {
  NinjaOk({"tasks/one.cuda.tasks.json"});
  // Hides the GPU even if there is one.
  const CommandResult result = Run({"ninja", "-C", "work", "-k", "0", "tune-one-cuda"}, {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_FALSE(result.status.ok());
  const std::string told = "error: no CUDA device: ";
  const size_t at = result.out.find(told);
  ASSERT_NE(at, std::string::npos) << result.out;
  ExpectHas(result.out.substr(at, result.out.find('\n', at) - at), {"--compile-only", "HONE_LAUNCHER", "`opencl`"});
  EXPECT_EQ(result.out.find(told, at + 1), std::string::npos) << "told twice";
  EXPECT_FALSE(Has("work/records/cuda")) << "nothing may have begun";
}

TEST_F(DeviceChain, OpenClGoesToTheVerifiedBenchmark) {
  if (const std::string why = NoOpenCl(); !why.empty()) GTEST_SKIP() << why;
  NinjaOk({"tune-one-opencl"});
  ExpectVerified("one.opencl");
  EXPECT_TRUE(Has("work/report/one.opencl/index.html"));
  EXPECT_TRUE(Has("work/devices/opencl.json"));
  EXPECT_FALSE(Has("work/records/cpu")) << "asked for by name, and alone";
  ExpectNoWork("tune-one-opencl");

  // run-gpu-checks reads these words in the logs of tuning.
  const CommandResult rate = OfChecks("rate", "rate \"$work\"");
  EXPECT_TRUE(std::regex_match(
      rate.out, std::regex("[1-9][0-9]* trials in [0-9]+ s: [0-9.]*[1-9][0-9.]* a second, device busy [0-9]+ %\n")))
      << rate.out << rate.err;
  ExpectOk(OfChecks("again", "again"));
}

// A user's operator, whose GPU template and plugin every tool has to find.
TEST_F(DeviceChain, AnOperatorOfAPluginGoesThereToo) {
  if (const std::string why = NoOpenCl(); !why.empty()) GTEST_SKIP() << why;
  Write("bin/plugins/rgb_to_yuv.so", *ReadFile(std::string(HONE_PLUGINS) + "/rgb_to_yuv.so"));
  Write("pipelines/yuv.toml",
        "plugin = \"rgb_to_yuv.so\"\nnetwork = \"rgb_to_yuv(f32[17,23,3])\"\ntargets = [\"cpu\"]\n"
        "on_request = [\"opencl\"]\n[tune]\ntrials = 3\n[measure]\ncandidate_seconds = 0.01\n"
        "timeout_seconds = 120\nfinalists = 2\n[bench]\nprocesses = 1\niterations = 3\nwarmup = 1\n");
  ExpectOk(Plan());
  NinjaOk({"tune-yuv-opencl"});
  ExpectVerified("yuv.opencl");
  const Json kernels = ReadJson("work/out/yuv.opencl/manifest.json")["kernels"];
  ASSERT_EQ(kernels.size(), 1U) << kernels.dump(1);
  EXPECT_EQ(kernels[0]["source"], "tuned") << kernels.dump(1);
  ExpectHasNot(kernels[0]["config"].dump(), {"rgb_to_yuv_cpu"});
}

}  // namespace
}  // namespace hone
