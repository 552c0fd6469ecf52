// run-gpu-checks with the real tools on OpenCL (PoCL's CPU suffices): a short variant of the first hour with a GPU.
#include <filesystem>

#include "base/text.h"
#include "common/missing.h"
#include "test_folder.h"

namespace hone {
namespace {

class FirstHour : public TestFolder {
 protected:
  void SetUp() override {
    timeout_seconds_ = 600;
    WriteProgram("run-gpu-checks", Must(ReadFile("packaging/cuda/run-gpu-checks")));
    for (const char* target : {"cpu", "cuda", "opencl"}) {
      const std::string path = fmt::format("pipelines/targets/{}.toml", target);
      Write(path, Must(ReadFile(path)));
    }
    Write("pipelines/tiny.toml",
          "network = \"conv2d(f32[1,8,14,14], f32[16,8,3,3], pad=1,1,1,1) + bias + relu\"\n"
          "targets = [\"cpu\"]\non_request = [\"opencl\"]\n\n[tune]\ntrials = 4\nseconds = 30\n\n"
          "[measure]\ntimeout_seconds = 60\n\n[bench]\nprocesses = 1\niterations = 3\nwarmup = 1\n");
    // As in the archive of `make bundle-cuda`.
    std::filesystem::create_directory(Path("bin"));
    std::filesystem::create_symlink(HONE_NINJA, Path("bin/ninja"));
    for (const auto& entry : std::filesystem::directory_iterator(HONE_TOOLS)) {
      const std::string name = entry.path().filename();
      if (StartsWith(name, "hone-") || name == "gpu_check") std::filesystem::create_symlink(entry, Path("bin/" + name));
    }
    WriteProgram("path/python3", "#!/bin/sh\nexit 1\n");
  }
};

TEST_F(FirstHour, OnOpenClEveryStepPasses) {
  const CommandResult result =
      Run({"/bin/bash", Path("run-gpu-checks"), "--target", "opencl", "--network", "tiny", "--quick", "--out", "out.md",
           "--workload", "dense(f32[3,33], f32[17,33]) + bias + relu", "--workload", "softmax(f32[3,101], axis=1)"},
          {{"PATH", Path("path") + ":/usr/local/bin:/usr/bin:/bin"}});
  if (const std::string why = Lacks(result, "OpenCL"); !why.empty()) GTEST_SKIP() << why;
  ExpectOk(result);
  const std::string text = Read("out.md");
  ExpectHas(text, {"| plan | done | ", "| device and its compiler | done | ",
                   "| agreement of templates and sketches | done | ", "| tiny on opencl, tuned from nothing | done | ",
                   "| memcheck | left out | only CUDA has compute-sanitizer |", "| PyTorch | left out | ",
                   "| templates and sketches agree with the reference | all right | ", "all right | holds |",
                   "| tiny tuned, verified, benchmarked | within 4 min | "});
  ExpectHasNot(text, {"**", "not taken", "has not ended", "nothing: see the steps"});
  const std::string list = ExpectOk(Run({"tar", "-tzf", "out.tar.gz"})).out;
  ExpectHas(list,
            {"gpu-checks.work/gpu-checks.md\n", "gpu-checks.work/agreement.json\n",
             "gpu-checks.work/bench/tiny.opencl.json\n", "gpu-checks.work/report/tiny.opencl/report.md\n", ".db\n"});
}

}  // namespace
}  // namespace hone
