// GPUs through the whole chain with the real tools: what a machine without one is told, and a network on OpenCL (PoCL).
#include <filesystem>
#include <regex>

#include "base/json.h"
#include "chain_folder.h"

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
    const std::string text = Read("pipelines/one.toml");
    const std::string key = "targets = [\"cpu\"]\n";
    const size_t at = text.find(key);
    ASSERT_NE(at, std::string::npos) << text;
    Write("pipelines/one.toml", text.substr(0, at + key.size()) + "on_request = [\"cuda\", \"opencl\"]\n" +
                                    text.substr(at + key.size()) + "[tune.opencl]\ntrials = 3\n");
    const CommandResult plan = Plan();
    ASSERT_TRUE(plan.status.ok()) << plan.err;
  }

  // A function of run-gpu-checks in a shell, as it stands there, with its `work`, `target`, `net` and `tool`.
  CommandResult OfChecks(const std::string& function, const std::string& call) {
    const Result<std::string> script = ReadFile("packaging/cuda/run-gpu-checks");
    EXPECT_TRUE(script.ok()) << script.status().message();
    const std::string text = script.ok() ? *script : "";
    const size_t begin = text.find("\n" + function + "() {"), end = text.find("\n}\n", begin);
    EXPECT_NE(end, std::string::npos) << function;
    if (end == std::string::npos) return CommandResult{{1, 0}, "", ""};
    return Run({"bash", "-c",
                "work=" + Path("work") + " tool=" + Path("bin") + " target=opencl net=one\n" +
                    text.substr(begin, end + 3 - begin) + call});
  }

  CommandResult Describe(const std::string& kind) { return Run({Path("bin/hone-tune"), "--describe-device", kind}); }
};

TEST_F(DeviceChain, WithoutACudaDeviceOneMessageSaysWhatIsMissingAndWhatToDo) {
  if (Describe("cuda").status.ok()) GTEST_SKIP() << "there is one";
  NinjaOk({"tasks/one.cuda.tasks.json"});
  const CommandResult result = Ninja({"-k", "0", "tune-one-cuda"});
  EXPECT_FALSE(result.status.ok());
  const std::string told = "error: no CUDA device: ";
  const size_t at = result.out.find(told);
  ASSERT_NE(at, std::string::npos) << result.out;
  const std::string message = result.out.substr(at, result.out.find('\n', at) - at);
  for (const char* word : {"--compile-only", "HONE_LAUNCHER", "`opencl`"}) {
    EXPECT_NE(message.find(word), std::string::npos) << word << ": " << message;
  }
  EXPECT_EQ(result.out.find(told, at + 1), std::string::npos) << "told twice";
  EXPECT_FALSE(Exists(Work("records/cuda"))) << "nothing may have begun";
}

TEST_F(DeviceChain, OpenClGoesToTheVerifiedBenchmark) {
  const CommandResult found = Describe("opencl");
  // "no OpenCL: ..", "no OpenCL device: ..": any other error is one.
  if (found.err.find("error: no OpenCL") != std::string::npos) GTEST_SKIP() << found.err;
  ASSERT_TRUE(found.status.ok()) << found.err;
  NinjaOk({"tune-one-opencl"});
  const auto bench = ReadJsonFile(Work("bench/one.opencl.json"));
  ASSERT_TRUE(bench.ok()) << bench.status().message();
  EXPECT_TRUE((*bench)["verification"]["ok"].get<bool>()) << bench->dump(1);
  EXPECT_TRUE(Exists(Work("report/one.opencl/index.html")));
  EXPECT_TRUE(Exists(Work("devices/opencl.json")));
  EXPECT_FALSE(Exists(Work("records/cpu"))) << "asked for by name, and alone";
  ExpectNoWork("tune-one-opencl");

  // What run-gpu-checks reads, of the words as they are: the logs of tuning, and a benchmark's table.
  const CommandResult rate = OfChecks("rate", "rate \"$work\"");
  EXPECT_TRUE(std::regex_match(
      rate.out, std::regex("[1-9][0-9]* trials in [0-9]+ s: [0-9.]*[1-9][0-9.]* a second, device busy [0-9]+ %\n")))
      << rate.out << rate.err;
  Write("work/peers/rows.md", "| cuDNN, NCHW, CUDA graph | off | 1.0 | 1000.0 | 1.0 | 1e-6 |\n");
  Write("work/log/one_again.log", "");
  const CommandResult again = OfChecks("again", "again >\"$work/log/one_again.log\"");
  ASSERT_TRUE(again.status.ok()) << again.err;
  const CommandResult beside = OfChecks("beside", "beside");
  EXPECT_TRUE(std::regex_match(beside.out, std::regex("[0-9.]+ [0-9.]*[1-9][0-9.]* 1000\\.000\n")))
      << beside.out << beside.err << Read("work/log/one_again.log");
}

// A user's operator, whose GPU template and plugin every tool has to find.
TEST_F(DeviceChain, AnOperatorOfAPluginGoesThereToo) {
  const CommandResult found = Describe("opencl");
  if (found.err.find("error: no OpenCL") != std::string::npos) GTEST_SKIP() << found.err;
  namespace fs = std::filesystem;
  fs::create_directories(Path("bin/plugins"));
  fs::copy_file(std::string(HONE_PLUGINS) + "/rgb_to_yuv.so", Path("bin/plugins/rgb_to_yuv.so"));
  Write("pipelines/yuv.toml",
        "plugin = \"rgb_to_yuv.so\"\nnetwork = \"rgb_to_yuv(f32[17,23,3])\"\ntargets = [\"cpu\"]\n"
        "on_request = [\"opencl\"]\n[tune]\ntrials = 3\n[measure]\ncandidate_seconds = 0.01\n"
        "timeout_seconds = 120\nfinalists = 2\n[bench]\nprocesses = 1\niterations = 3\nwarmup = 1\n");
  const CommandResult plan = Plan();
  ASSERT_TRUE(plan.status.ok()) << plan.err;
  NinjaOk({"tune-yuv-opencl"});
  const auto bench = ReadJsonFile(Work("bench/yuv.opencl.json"));
  ASSERT_TRUE(bench.ok()) << bench.status().message();
  EXPECT_TRUE((*bench)["verification"]["ok"].get<bool>()) << bench->dump(1);
  const auto manifest = ReadJsonFile(Work("out/yuv.opencl/manifest.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();
  ASSERT_EQ((*manifest)["kernels"].size(), 1U) << manifest->dump(1);
  EXPECT_EQ((*manifest)["kernels"][0]["source"].get<std::string>(), "tuned") << manifest->dump(1);
  EXPECT_EQ((*manifest)["kernels"][0]["config"].dump().find("rgb_to_yuv_cpu"), std::string::npos) << manifest->dump(1);
}

}  // namespace
}  // namespace hone
