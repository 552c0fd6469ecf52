// run-gpu-checks with stand-ins for the tools: whatever fails or hangs, the others run, and one file reports the
// results.
#include <regex>

#include "base/text.h"
#include "test_folder.h"

namespace hone {
namespace {

class Checks : public TestFolder {
 protected:
  void SetUp() override {
    timeout_seconds_ = 60;
    WriteProgram("run-gpu-checks", Must(ReadFile("packaging/cuda/run-gpu-checks")));
    for (const char* target : {"cpu", "cuda", "opencl"})
      Write("pipelines/targets/" + std::string(target) + ".toml", "kind\n");
    Write("pipelines/resnet18.toml", "network = \"resnet-18\"\n");
    Program("hone-tune",
            "case $1 in\n--describe-device) echo 'kind = \"cuda\"'; echo 'arch = \"sm_90\"';;\n"
            "--find-device) echo found >\"$4\";;\n*) echo 1;;\nesac\n");
    // Planning copies the device into the work folder, like the real tool; it does not know TF32.
    Program("hone-plan",
            "if grep -q tf32 \"$2/resnet18.toml\"; then echo 'unknown key `tf32`' >&2; exit 1; fi\n"
            "mkdir -p \"$4/targets\"; cp \"$2/targets/cuda.toml\" \"$4/targets/cuda.json\"\n");
    Program("gpu_check",
            "echo 'some_template: holds: 3 of 3 right'\necho '1 of 1 templates and rules tried, all right'\n");
    Program("ninja",
            "mkdir -p \"$2/report/resnet18.cuda\" \"$2/records/cuda\"\necho '# tuned: 1.00 ms' "
            ">\"$2/report/resnet18.cuda/report.md\"\n"
            "echo 'x info a: 40 new trials in 2.00 s (20.0 a second, device busy 60 %), trials' "
            ">\"$2/records/cuda/a.log\"\n"
            "echo 'x info b: 10 new trials in 500 ms (20.0 a second, device busy 20 %), trials' "
            ">\"$2/records/cuda/b.log\"\n");
    WriteProgram("path/python3", "#!/bin/sh\nexit 1\n");
    Sanitizer("echo '========= ERROR SUMMARY: 0 errors'");
  }

  // A compute-sanitizer that runs `script`, with its tool in $2.
  void Sanitizer(const std::string& script) { WriteProgram("path/compute-sanitizer", "#!/bin/sh\n" + script + "\n"); }

  // A stand-in: bin/NAME, a shell script.
  void Program(const std::string& name, const std::string& script) {
    WriteProgram("bin/" + name, "#!/bin/sh\n" + script);
  }

  // A python3 with PyTorch that took `milliseconds` with a CUDA graph, and 1.7 for a call that waits; beside it Hone.
  void PyTorch(const std::string& milliseconds, int code = 0,
               const std::string& hone = "| Hone | off | 1.1 | 1.200 | 1.300 | 1e-6 |") {
    Program("hone-extract", "");
    Program("hone-bench", "shift 7\necho {} >\"$1\"\necho 'tuned  1.200  1.100  1.300  1.000'\n");
    WriteProgram("path/python3",
                 "#!/bin/sh\n[ \"$1\" != -c ] || { case $2 in *torch*) exit 0;; *) exit 1;; esac; }\n"
                 "{ echo '| how | TF32 | min ms | median ms | host ms, synchronised | largest difference |'\n"
                 "echo '" +
                     hone +
                     "'\n"
                     "echo '| cuDNN, NCHW, CUDA graph | off | 1.9 | 2.5 | 2.6 | 1e-6 |'\n"
                     "echo '| cuDNN, channels_last, CUDA graph | off | 1.4 | " +
                     milliseconds +
                     " | 1.7 | 1e-6 |'\n"
                     "echo '| cuDNN, NCHW | off | 0.1 | 0.1 | 0.1 | 1e-6 |'\n"
                     "echo '| cuDNN, NCHW, CUDA graph | on | 0.1 | 0.1 | 0.1 | 1e-6 |'; } >\"$4\"\nexit " +
                     std::to_string(code) + "\n");
  }

  CommandResult Check(const Words& arguments = {"--out", "out.md"}) {
    return Run(Words{"/bin/bash", Path("run-gpu-checks")} + arguments, {{"PATH", Path("path") + ":/usr/bin:/bin"}});
  }
  // The contents of its file after a run with this exit code.
  std::string Results(int code = 0, const Words& arguments = {"--out", "out.md"}) {
    const CommandResult result = Check(arguments);
    EXPECT_EQ(result.status.code, code) << result.err;
    return Read("out.md");
  }
};

TEST_F(Checks, WhatWasMeasuredStandsInOneFile) {
  ExpectHas(ExpectOk(Check()).out, {"| device busy while tuning | at least 50 % | 52 % | holds |"});
  const std::string text = Read("out.md");
  // 50 trials in 2.5 s, during which the device was busy 1.2 s and 0.1 s.
  ExpectHas(text, {"arch = \"sm_90\"", "some_template: holds: 3 of 3 right", "# tuned: 1.00 ms",
                   "50 trials in 2 s: 20.0 a second, device busy 52 %", "| TF32 | left out | unknown key `tf32` |",
                   "| PyTorch | left out |"});
  ExpectHasNot(text, {"PyTorch, in the same run"});
  const size_t verdicts = text.find("## Verdicts");
  ASSERT_NE(verdicts, std::string::npos);
  EXPECT_EQ(
      std::regex_replace(text.substr(verdicts), std::regex("[0-9]+ s "), "N s "),
      "## Verdicts\n\n| check | wanted | measured | verdict |\n| --- | --- | --- | --- |\n"
      "| templates and sketches agree with the reference | all right | 1 of 1 templates and rules tried, all "
      "right | holds |\n"
      "| memcheck of compute-sanitizer | 0 errors | SUMMARY: 0 errors | holds |\n"
      "| racecheck of compute-sanitizer | 0 errors | SUMMARY: 0 errors | holds |\n"
      "| synccheck of compute-sanitizer | 0 errors | SUMMARY: 0 errors | holds |\n"
      "| initcheck of compute-sanitizer | 0 errors | SUMMARY: 0 errors | holds |\n"
      "| resnet18 tuned, verified, benchmarked | within 15 min | N s | holds |\n"
      "| candidates a second | at least 20 | 20.0 | holds |\n"
      "| device busy while tuning | at least 50 % | 52 % | holds |\n"
      "| time on the device (events) beside PyTorch, cuDNN and a CUDA graph, TF32 off | at most 0.8 | - | not taken "
      "|\n"
      "| time of a call that waits (host) beside PyTorch, cuDNN and a CUDA graph, TF32 off | at most 0.8 | - | not "
      "taken |\n"
      "| resnet18 with TF32 tuned, verified, benchmarked | within 15 min | - | not taken |\n");
}

// The device's time with the device's, and a call that waits with a call that waits.
TEST_F(Checks, TheTimesBesidePyTorchAreJudged) {
  const std::string device =
      "| time on the device (events) beside PyTorch, cuDNN and a CUDA graph, TF32 off | at most 0.8 | ";
  const std::string host =
      "| time of a call that waits (host) beside PyTorch, cuDNN and a CUDA graph, TF32 off | at most 0.8 | ";
  PyTorch("1.600");
  ExpectHas(Results(), {device + "0.75 (1.200 ms to 1.600 ms) | holds |",
                        host + "0.76 (1.300 ms to 1.700 ms) | holds |", "| PyTorch beside it | done |"});
  PyTorch("1.250");
  ExpectHas(Results(1), {device + "0.96 (1.200 ms to 1.250 ms) | **does not hold** |",
                         host + "0.76 (1.300 ms to 1.700 ms) | holds |"});
  PyTorch("1.600", 0, "| Hone | off | 1.1 | 1.200 | 1.500 | 1e-6 |");
  ExpectHas(Results(1), {device + "0.75 (1.200 ms to 1.600 ms) | holds |",
                         host + "0.88 (1.500 ms to 1.700 ms) | **does not hold** |"});
  // A failed variant of PyTorch is shown in its row and as a failed step.
  PyTorch("failed", 1);
  ExpectHas(Results(1), {"| PyTorch beside it | **failed** (1), ", device + "0.48 (1.200 ms to 2.500 ms) | holds |"});
}

// Each tool runs gpu_check in one process, on small shapes.
TEST_F(Checks, ToolsOfComputeSanitizerAreJudgedByTheirSummary) {
  Sanitizer(
      "case $2 in\nracecheck) echo '========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)'; exit "
      "9;;\n"
      "synccheck) echo 'the driver is too old'; exit 1;;\n"
      "*) echo \"$*\"; echo '========= ERROR SUMMARY: 0 errors';;\nesac");
  const std::string text = Results(1);
  ExpectHas(text,
            {"| memcheck | done | ", "| racecheck | **failed** (9), ", "| synccheck | **failed** (1), ",
             "| memcheck of compute-sanitizer | 0 errors | SUMMARY: 0 errors | holds |",
             "| racecheck of compute-sanitizer | 0 errors | SUMMARY: 2 hazards displayed (2 errors, 0 warnings) | "
             "**does not hold** |",
             "| synccheck of compute-sanitizer | 0 errors | - | not taken |",
             "| resnet18 tuned, verified, benchmarked | within 15 min | "});
  ExpectHas(Read("gpu-checks.work/log/initcheck.log"),
            {"--tool initcheck --error-exitcode 9 ", "/bin/gpu_check --here --points 1 --seconds 280 ", " --small\n"});
}

// A device may be lent for ten minutes.
TEST_F(Checks, TheTimeForAllStepsEndsTheRun) {
  const std::string text = Results(1, {"--out", "out.md", "--total", "0"});
  ExpectHas(text, {"| plan | **left out** | the 0 minutes for all steps are over |", "| memcheck | left out |"});
  ExpectHas(Check({"--quick", "--dry"}).out, {"tuned from nothing (at most 240 s)"});
}

// The machine may be taken away at any time.
TEST_F(Checks, TheFileAndTheArchiveAreWrittenAfterEachStep) {
  Program("ninja",
          "cp \"$2/../out.md\" \"$2/../seen.md\"\n"
          "cp \"$2/../out.tar.gz\" \"$2/../seen.tar.gz\"\n");
  Results(1);
  ExpectHas(Read("seen.md"), {"This run has not ended. Its next step: resnet18 on cuda, tuned from nothing.",
                              "some_template: holds: 3 of 3 right",
                              "| templates and sketches agree with the reference | all right | 1 of 1 templates and "
                              "rules tried, all right | holds |",
                              "| memcheck | done | ", "| candidates a second | at least 20 | - | not taken |"});
  ExpectHasNot(Read("out.md"), {"has not ended"});
  for (const char* archive : {"seen.tar.gz", "out.tar.gz"}) {
    ExpectHas(
        ExpectOk(Run({"tar", "-tzf", archive})).out,
        {"gpu-checks.work/gpu-checks.md\n", "gpu-checks.work/log/memcheck.log\n", "gpu-checks.work/device.json\n"});
  }
}

TEST_F(Checks, TheArchiveHasRecordsAndNoLibraries) {
  Program("ninja",
          "mkdir -p \"$2/records/cuda\" \"$2/out/net\" \"$2/nets\"\n"
          "for file in records/cuda/a.db records/cuda/a.reference out/net/net.so nets/net.parameters; do\n"
          "  echo >\"$2/$file\"\ndone\n");
  Results(1);
  const std::string list = ExpectOk(Run({"tar", "-tzf", "out.tar.gz"})).out;
  ExpectHas(list, {"gpu-checks.work/records/cuda/a.db\n"});
  ExpectHasNot(list, {"net.so", "parameters", "reference"});
}

// Otherwise a log or a table in another format would pass for checks that were left out.
TEST_F(Checks, ARateThatIsTooLowOrCannotBeReadDoesNotHold) {
  const std::string log = "mkdir -p \"$2/records/cuda\"\necho '%' >\"$2/records/cuda/a.log\"\n";
  Program("ninja", ReplaceAll(log, "%", "x info a: 39 new trials in 2.00 s (19.5 a second, device busy 49 %), trials"));
  ExpectHas(Results(1), {"| candidates a second | at least 20 | 19.5 | **does not hold** |",
                         "| device busy while tuning | at least 50 % | 49 % | **does not hold** |"});
  PyTorch("1.600", 0, "| Hone | off | takes 1.200 ms |");
  Program("ninja", ReplaceAll(log, "%", "x info a: 40 candidates within 2 s"));
  ExpectHas(Results(1),
            {"| candidates a second | at least 20 | - | **does not hold** |",
             "| device busy while tuning | at least 50 % | - | **does not hold** |",
             "(events) beside PyTorch, cuDNN and a CUDA graph, TF32 off | at most 0.8 | - | **does not hold** |",
             "(host) beside PyTorch, cuDNN and a CUDA graph, TF32 off | at most 0.8 | - | **does not hold** |"});
}

// Ninja would find its stamps and do nothing, and the rates would be those of the earlier run.
TEST_F(Checks, WhatAnEarlierRunLeftIsNoMeasurement) {
  const std::string fast = "x info old: 1000 new trials in 1.00 s (1000.0 a second, device busy 99 %), trials\n";
  Write("gpu-checks.work/records/cuda/old.log", fast);
  Write("gpu-checks.work/tf32/records/cuda/old.log", fast);
  Write("gpu-checks.work/stamps/a.cuda.done", "");
  Write("gpu-checks.work/mine.txt", "");
  ExpectHas(Results(), {"50 trials in 2 s: 20.0 a second, device busy 52 %"});
  EXPECT_FALSE(Has("gpu-checks.work/stamps"));
  EXPECT_FALSE(Has("gpu-checks.work/tf32/records"));
  EXPECT_TRUE(Has("gpu-checks.work/mine.txt")) << "not the script's";
  Program("ninja", "");
  ExpectHasNot(Results(1), {"20.0", "# tuned: 1.00 ms"});
}

TEST_F(Checks, AFailureStopsNoOtherStep) {
  Program("gpu_check", "echo 'a | b is wrong'\nexit 1\n");
  Program("ninja", "sleep 100\n");
  ExpectHas(Results(1, {"--out", "out.md", "--minutes", "0"}),
            {"| agreement of templates and sketches | **failed** (1), ", "a / b is wrong",
             "tuned from nothing | **stopped after 0 s** |",
             "| templates and sketches agree with the reference | all right | - | **does not hold** |",
             "| candidates a second | at least 20 | - | not taken |", "| TF32 | left out |"});
}

TEST_F(Checks, WithoutADeviceOrACompilerItSaysSoOnce) {
  Program("hone-tune",
          "[ \"$1\" != --describe-device ] || { echo 'hone-tune: error: no CUDA device: x' >&2; exit 1; }\n");
  const CommandResult result = Check();
  EXPECT_EQ(result.status.code, 1);
  EXPECT_EQ(result.err, "hone-tune: error: no CUDA device: x\n");
  ExpectHas(Read("out.md"), {"\nNothing ran: no CUDA device: x\n"});
  // For example a driver without NVRTC.
  Program("hone-tune",
          "case $1 in\n--describe-device) echo 'kind = \"cuda\"';;\n"
          "--find-device) echo 'hone-tune: error: no NVRTC: y' >&2; exit 1;;\n*) echo 1;;\nesac\n");
  const std::string text = Results(1);
  EXPECT_EQ(text.find("no NVRTC"), text.rfind("no NVRTC")) << text;
  ExpectHas(text, {"hone-tune: error: no NVRTC: y |", "| agreement of templates and sketches | left out |",
                   "| resnet18 on cuda, tuned from nothing | left out |",
                   "| resnet18 on cuda with TF32, tuned from nothing | left out |"});
}

TEST_F(Checks, QuickShortensTheSearchAndJudgesNoRates) {
  Write("pipelines/resnet18.toml", "network = \"resnet-18\"\n[tune.cuda]\ntrials = 512\nseconds = 40\n");
  PyTorch("1.600");
  const std::string text = Results(0, {"--quick", "--out", "out.md"});
  ExpectHas(text, {"within 4 min", "| at most 0.8 | 0.75 "});
  ExpectHasNot(text, {"candidates a second"});
  ExpectHas(Read("gpu-checks.work/pipelines/resnet18.toml"), {"trials = 512\nseconds = 4\n"});
  ExpectHas(Check({"--quick", "--dry"}).out, {"gpu_check --target", "--points 1"});
}

TEST_F(Checks, DryRunsNothing) {
  Program("hone-tune", "[ \"$1\" = --version ]\n");
  const CommandResult result = Check({"--dry", "--out", "out.md"});
  ExpectOk(result);
  ExpectHas(result.out, {"PyTorch beside it (at most 900 s)"});
  EXPECT_FALSE(Has("out.md"));
  EXPECT_FALSE(Has("gpu-checks.work"));
}

TEST_F(Checks, MisuseIsNamed) {
  EXPECT_EQ(Check({"--target", "rocm"}).err, "run-gpu-checks: error: --target rocm: known are cuda, opencl\n");
  for (const Words& arguments : std::vector<Words>{{"--fast"}, {"--minutes", "soon"}, {"--network", "lenet"}}) {
    EXPECT_EQ(Check(arguments).status.code, 2) << arguments[0];
  }
}

}  // namespace
}  // namespace hone
