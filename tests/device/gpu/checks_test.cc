// run-gpu-checks with stand-ins for the tools: whatever fails or hangs, the others run, and one file says what happened.
#include <gtest/gtest.h>

#include <optional>
#include <regex>

#include "base/file.h"
#include "base/subprocess.h"

namespace hone {
namespace {

class Checks : public testing::Test {
 protected:
  void SetUp() override {
    Result<TempDir> dir = TempDir::Create("hone-checks");
    ASSERT_TRUE(dir.ok()) << dir.status().message();
    dir_.emplace(std::move(*dir));
    const Result<std::string> script = ReadFile("packaging/cuda/run-gpu-checks");
    ASSERT_TRUE(script.ok()) << script.status().message();
    Program("run-gpu-checks", *script);
    for (const char* target : {"cpu", "cuda", "opencl"}) Write("pipelines/targets/" + std::string(target) + ".toml", "kind\n");
    Write("pipelines/resnet18.toml", "network = \"resnet-18\"\n");
    Program("bin/hone-tune",
            "#!/bin/sh\ncase $1 in\n--describe-device) echo 'kind = \"cuda\"'; echo 'arch = \"sm_90\"';;\n"
            "--find-device) echo found >\"$4\";;\n*) echo 1;;\nesac\n");
    // Planning copies the device into the work folder, as the real one does; it does not know TF32.
    Program("bin/hone-plan",
            "#!/bin/sh\nif grep -q tf32 \"$2/resnet18.toml\"; then echo 'unknown key `tf32`' >&2; exit 1; fi\n"
            "mkdir -p \"$4/targets\"; cp \"$2/targets/cuda.toml\" \"$4/targets/cuda.json\"\n");
    Program("bin/gpu_check", "#!/bin/sh\necho 'some_template: holds: 3 of 3 right'\necho '1 of 1 templates tried, all right'\n");
    Program("bin/ninja",
            "#!/bin/sh\nmkdir -p \"$2/report/resnet18.cuda\" \"$2/records/cuda\"\necho '# tuned: 1.00 ms' >\"$2/report/resnet18.cuda/report.md\"\n"
            "echo 'x info a: 40 new trials in 2.00 s (20.0 a second, device busy 60 %), trials' >\"$2/records/cuda/a.log\"\n"
            "echo 'x info b: 10 new trials in 500 ms (20.0 a second, device busy 20 %), trials' >\"$2/records/cuda/b.log\"\n");
    Program("path/python3", "#!/bin/sh\nexit 1\n");
  }

  // A python3 that has PyTorch, which took `milliseconds` with a CUDA graph, and a benchmark of Hone that took 1.20.
  void PyTorch(const std::string& milliseconds, int code = 0) {
    Program("bin/hone-extract", "#!/bin/sh\n");
    Program("bin/hone-bench", "#!/bin/sh\nshift 7\necho {} >\"$1\"\necho 'tuned  1.200  1.100  1.300  1.000'\n");
    Program("path/python3",
            "#!/bin/sh\n[ \"$1\" != -c ] || { case $2 in *torch*) exit 0;; *) exit 1;; esac; }\n"
            "{ echo '| how | TF32 | min ms | median ms | host ms | largest difference |'\n"
            "echo '| cuDNN, NCHW, CUDA graph | off | 1.9 | 2.5 | 2.6 | 1e-6 |'\n"
            "echo '| cuDNN, channels_last, CUDA graph | off | 1.4 | " +
                milliseconds +
                " | 1.7 | 1e-6 |'\n"
                "echo '| cuDNN, NCHW | off | 0.1 | 0.1 | 0.1 | 1e-6 |'\n"
                "echo '| cuDNN, NCHW, CUDA graph | on | 0.1 | 0.1 | 0.1 | 1e-6 |'; } >\"$4\"\nexit " +
                std::to_string(code) + "\n");
  }

  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(MakeDirs(DirName(dir_->Join(name))).ok());
    ASSERT_TRUE(WriteFileAtomic(dir_->Join(name), text).ok());
  }
  void Program(const std::string& name, const std::string& text) {
    Write(name, text);
    ASSERT_TRUE(RunCommand({"chmod", "+x", dir_->Join(name)}, {}).ok());
  }

  CommandResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"/bin/bash", dir_->Join("run-gpu-checks")});
    CommandOptions options;
    options.cwd = dir_->path();
    options.env = {{"PATH", dir_->Join("path") + ":/usr/bin:/bin"}};
    options.timeout_seconds = 60;
    const Result<CommandResult> result = RunCommand(arguments, options);
    EXPECT_TRUE(result.ok()) << result.status().message();
    return result.ok() ? *result : CommandResult{{1, 0}, "", ""};
  }
  std::string Results() const {
    const Result<std::string> text = ReadFile(dir_->Join("out.md"));
    return text.ok() ? *text : "";
  }

  std::optional<TempDir> dir_;
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST_F(Checks, WhatWasMeasuredStandsInOneFile) {
  const CommandResult result = Run({"--out", "out.md"});
  EXPECT_TRUE(result.status.ok()) << result.err;
  const std::string text = Results();
  EXPECT_HAS(text, "arch = \"sm_90\"");
  EXPECT_HAS(text, "some_template: holds: 3 of 3 right");
  EXPECT_HAS(text, "# tuned: 1.00 ms");
  // 50 trials in 2.5 s; busy 1.2 s and 0.1 s of them.
  EXPECT_HAS(text, "50 trials in 2 s: 20.0 a second, device busy 52 %");
  EXPECT_HAS(text, "| TF32 | left out | unknown key `tf32` |");
  EXPECT_HAS(text, "| PyTorch | left out |");
  EXPECT_EQ(text.find("PyTorch, in the same run"), std::string::npos) << text;
  const size_t verdicts = text.find("## Verdicts");
  ASSERT_NE(verdicts, std::string::npos);
  EXPECT_EQ(std::regex_replace(text.substr(verdicts), std::regex("[0-9]+ s "), "N s "),
            "## Verdicts\n\n| check | wanted | measured | verdict |\n| --- | --- | --- | --- |\n"
            "| every template agrees with the reference | all right | 1 of 1 templates tried, all right | holds |\n"
            "| resnet18 tuned, verified, benchmarked | within 15 min | N s | holds |\n"
            "| candidates a second | at least 20 | 20.0 | holds |\n"
            "| device busy while tuning | at least 50 % | 52 % | holds |\n"
            "| time beside PyTorch, cuDNN and a CUDA graph, TF32 off | at most 0.8 | - | not taken |\n"
            "| resnet18 with TF32 tuned, verified, benchmarked | within 15 min | - | not taken |\n");
  EXPECT_HAS(result.out, "| device busy while tuning | at least 50 % | 52 % | holds |");
}

TEST_F(Checks, TheTimeBesidePyTorchIsJudged) {
  PyTorch("1.600");
  const CommandResult fast = Run({"--out", "out.md"});
  EXPECT_TRUE(fast.status.ok()) << Results();
  EXPECT_HAS(Results(), "TF32 off | at most 0.8 | 0.75 (1.200 ms to 1.600 ms) | holds |");
  EXPECT_HAS(Results(), "| PyTorch beside it | done |");
  PyTorch("1.250");
  EXPECT_EQ(Run({"--out", "out.md"}).status.code, 1);
  EXPECT_HAS(Results(), "TF32 off | at most 0.8 | 0.96 (1.200 ms to 1.250 ms) | **does not hold** |");
  // What a way of PyTorch could not do is that way's row, and a step that failed.
  PyTorch("failed", 1);
  EXPECT_EQ(Run({"--out", "out.md"}).status.code, 1);
  EXPECT_HAS(Results(), "| PyTorch beside it | **failed** (1), ");
  EXPECT_HAS(Results(), "TF32 off | at most 0.8 | 0.48 (1.200 ms to 2.500 ms) | holds |");
}

TEST_F(Checks, ARateThatIsTooLowFails) {
  Program("bin/ninja",
          "#!/bin/sh\nmkdir -p \"$2/records/cuda\"\n"
          "echo 'x info a: 39 new trials in 2.00 s (19.5 a second, device busy 49 %), trials' >\"$2/records/cuda/a.log\"\n");
  EXPECT_EQ(Run({"--out", "out.md"}).status.code, 1);
  EXPECT_HAS(Results(), "| candidates a second | at least 20 | 19.5 | **does not hold** |");
  EXPECT_HAS(Results(), "| device busy while tuning | at least 50 % | 49 % | **does not hold** |");
}

// Ninja would find its stamps and do nothing, and the rates would be those of the earlier run.
TEST_F(Checks, WhatAnEarlierRunLeftIsNoMeasurement) {
  const std::string fast = "x info old: 1000 new trials in 1.00 s (1000.0 a second, device busy 99 %), trials\n";
  Write("gpu-checks.work/records/cuda/old.log", fast);
  Write("gpu-checks.work/tf32/records/cuda/old.log", fast);
  Write("gpu-checks.work/stamps/a.cuda.done", "");
  Write("gpu-checks.work/mine.txt", "");
  const CommandResult result = Run({"--out", "out.md"});
  EXPECT_TRUE(result.status.ok()) << result.err;
  EXPECT_HAS(Results(), "50 trials in 2 s: 20.0 a second, device busy 52 %");
  EXPECT_FALSE(Exists(dir_->Join("gpu-checks.work/stamps")));
  EXPECT_FALSE(Exists(dir_->Join("gpu-checks.work/tf32/records")));
  EXPECT_TRUE(Exists(dir_->Join("gpu-checks.work/mine.txt"))) << "not the script's";

  Program("bin/ninja", "#!/bin/sh\n");
  EXPECT_EQ(Run({"--out", "out.md"}).status.code, 1) << Results();
  EXPECT_EQ(Results().find("20.0"), std::string::npos) << Results();
  EXPECT_EQ(Results().find("# tuned: 1.00 ms"), std::string::npos) << Results();
}

// Else a log or a table in other words would pass for checks that were left out.
TEST_F(Checks, WhatCannotBeReadOfAStepThatIsDoneDoesNotHold) {
  PyTorch("1.600");
  Program("bin/ninja",
          "#!/bin/sh\nmkdir -p \"$2/records/cuda\"\necho 'x info a: 40 candidates within 2 s' "
          ">\"$2/records/cuda/a.log\"\n");
  Program("bin/hone-bench", "#!/bin/sh\nshift 7\necho {} >\"$1\"\necho 'the tuned one takes 1.200 ms'\n");
  EXPECT_EQ(Run({"--out", "out.md"}).status.code, 1);
  EXPECT_HAS(Results(), "| candidates a second | at least 20 | - | **does not hold** |");
  EXPECT_HAS(Results(), "| device busy while tuning | at least 50 % | - | **does not hold** |");
  EXPECT_HAS(Results(), "TF32 off | at most 0.8 | - | **does not hold** |");
}

TEST_F(Checks, AFailureStopsNoOtherStep) {
  Program("bin/gpu_check", "#!/bin/sh\necho 'a | b is wrong'\nexit 1\n");
  Program("bin/ninja", "#!/bin/sh\nsleep 100\n");
  const CommandResult result = Run({"--out", "out.md", "--minutes", "0"});
  EXPECT_EQ(result.status.code, 1);
  const std::string text = Results();
  EXPECT_HAS(text, "| agreement of the templates | **failed** (1), ");
  EXPECT_HAS(text, "a / b is wrong");
  EXPECT_HAS(text, "tuned from nothing | **stopped after 0 s** |");
  EXPECT_HAS(text, "| every template agrees with the reference | all right | - | **does not hold** |");
  EXPECT_HAS(text, "| candidates a second | at least 20 | - | not taken |");
  EXPECT_HAS(text, "| TF32 | left out |");
}

TEST_F(Checks, WithoutADeviceItSaysSoAtOnce) {
  Program("bin/hone-tune", "#!/bin/sh\n[ \"$1\" != --describe-device ] || { echo 'hone-tune: error: no CUDA device: x' >&2; exit 1; }\n");
  const CommandResult result = Run({"--out", "out.md"});
  EXPECT_EQ(result.status.code, 1);
  EXPECT_EQ(result.err, "hone-tune: error: no CUDA device: x\n");
  EXPECT_HAS(Results(), "\nNothing ran: no CUDA device: x\n");
}

// A driver and no NVRTC, say.
TEST_F(Checks, WithoutACompilerItIsSaidOnce) {
  Program("bin/hone-tune",
          "#!/bin/sh\ncase $1 in\n--describe-device) echo 'kind = \"cuda\"';;\n"
          "--find-device) echo 'hone-tune: error: no NVRTC: y' >&2; exit 1;;\n*) echo 1;;\nesac\n");
  EXPECT_EQ(Run({"--out", "out.md"}).status.code, 1);
  const std::string text = Results();
  EXPECT_HAS(text, "hone-tune: error: no NVRTC: y |");
  EXPECT_EQ(text.find("no NVRTC"), text.rfind("no NVRTC")) << text;
  EXPECT_HAS(text, "| agreement of the templates | left out |");
  EXPECT_HAS(text, "| resnet18 on cuda, tuned from nothing | left out |");
  EXPECT_HAS(text, "| resnet18 on cuda with TF32, tuned from nothing | left out |");
}

TEST_F(Checks, DryRunsNothing) {
  Program("bin/hone-tune", "#!/bin/sh\n[ \"$1\" = --version ]\n");
  const CommandResult result = Run({"--dry", "--out", "out.md"});
  EXPECT_TRUE(result.status.ok()) << result.err;
  EXPECT_HAS(result.out, "PyTorch beside it (at most 900 s)");
  EXPECT_EQ(Results(), "");
  EXPECT_FALSE(Exists(dir_->Join("gpu-checks.work")));
}

TEST_F(Checks, MisuseIsNamed) {
  EXPECT_EQ(Run({"--target", "rocm"}).err, "run-gpu-checks: error: --target rocm: known are cuda, opencl\n");
  EXPECT_EQ(Run({"--fast"}).status.code, 2);
  EXPECT_EQ(Run({"--minutes", "soon"}).status.code, 2);
  EXPECT_EQ(Run({"--network", "lenet"}).status.code, 2);
}

}  // namespace
}  // namespace hone
