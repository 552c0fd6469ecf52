// The measuring child with candidates written in C: verdicts, and the child's fate.
#include <signal.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/statistics.h"
#include "base/text.h"
#include "common/kernel_layers.h"
#include "fake/neighbour.h"
#include "measure/child_measurer.h"
#include "unit/measure/twice_task.h"

namespace hone::measure {
namespace {

BuiltKernel Kernel(const std::string& symbol) {
  BuiltKernel kernel = TwiceKernel(symbol, "pack");
  kernel.path = HONE_TEST_KERNELS;
  kernel.artifact_digest = symbol;
  kernel.kernel.workspace_bytes = kernel.kernel.scratch_bytes = 4096;
  kernel.steps = "some steps";
  kernel.compile_seconds = 0.5;
  return kernel;
}

class ChildTest : public testing::Test {
 protected:
  void SetUp() override {
    setup_ = TwiceTask(dir_);
    setup_.protocol.cold_bytes = 1e5;
  }

  ChildMeasurer& Measurer() {
    if (!measurer_) measurer_ = std::make_unique<ChildMeasurer>(HONE_TEST_WORKER, setup_);
    return *measurer_;
  }

  Outcome Measure(const std::string& symbol, double incumbent = 0) {
    BuiltKernel kernel = Kernel(symbol);
    kernel.kernel.scratch_bytes = scratch_bytes_;
    return Must(Measurer().Measure(kernel, incumbent));
  }

  void ExpectFailure(const std::string& symbol, TrialError error, const std::string& text) {
    const Outcome outcome = Measure(symbol);
    EXPECT_EQ(outcome.state, TrialState::kFailed) << symbol;
    EXPECT_EQ(outcome.error, error) << symbol << ": " << outcome.error_text;
    EXPECT_THAT(outcome.error_text, HasSubstr(text)) << symbol;
    EXPECT_EQ(outcome.median, 0) << symbol;
  }

  // Among finalists: the others have all their samples, this one has no samples.
  void ExpectFinalistOut(const std::string& symbol, TrialError error) {
    const auto series =
        Must(Measurer().MeasureInterleaved({Kernel("right"), Kernel(symbol), Kernel("right_with_memory")}, 20));
    EXPECT_EQ(series[0].seconds.size(), 20u) << symbol << ": " << series[0].error_text;
    EXPECT_EQ(series[1].error, error) << symbol;
    EXPECT_TRUE(series[1].seconds.empty()) << symbol;
    EXPECT_EQ(series[2].seconds.size(), 20u) << symbol << ": " << series[2].error_text;
  }

  void ExpectRight(const std::string& symbol) {
    const Outcome outcome = Measure(symbol);
    EXPECT_EQ(outcome.state, TrialState::kOk) << symbol << ": " << outcome.error_text;
  }

  TempDir dir_ = Must(TempDir::Create());
  TaskSetup setup_;
  int64_t scratch_bytes_ = 4096;
  std::unique_ptr<ChildMeasurer> measurer_;
};

TEST_F(ChildTest, ARightKernelIsTimedAndKeepsItsDescription) {
  const Outcome outcome = Measure("right");
  ASSERT_EQ(outcome.state, TrialState::kOk) << outcome.error_text;
  EXPECT_EQ(outcome.error, TrialError::kNone);
  EXPECT_GE(outcome.samples.size(), static_cast<size_t>(setup_.protocol.min_samples));
  for (const double sample : outcome.samples) EXPECT_GT(sample, 0);
  EXPECT_EQ(outcome.median, Median(outcome.samples));
  EXPECT_EQ(outcome.steps, "some steps");
  EXPECT_EQ(outcome.artifact_digest, "right");
  EXPECT_EQ(outcome.compile_seconds, 0.5);
  ExpectRight("right_with_memory");
}

// A run of this kernel takes microseconds: blocks of one run are discarded until a block is long enough.
TEST_F(ChildTest, BlocksLastAtLeastMinRepeat) {
  setup_.protocol.number = 1;
  setup_.protocol.repeat = 4;
  setup_.protocol.min_repeat_ms = 50;
  setup_.protocol.patience_seconds = 0;
  const Outcome outcome = Measure("right");
  ASSERT_EQ(outcome.state, TrialState::kOk) << outcome.error_text;
  EXPECT_EQ(outcome.samples.size(), 4u);
  EXPECT_GE(outcome.measure_seconds, 4 * 0.05);
  EXPECT_EQ(outcome.median, TrimmedMean(outcome.samples));
  for (const double sample : outcome.samples) EXPECT_LT(sample, 0.05) << "of a run, not of the block";
}

TEST_F(ChildTest, ACooldownIsSleptAfterACandidate) {
  setup_.protocol.cooldown = 0.3;
  const double start = RealClock()->NowSeconds();
  ExpectRight("right");
  EXPECT_GE(RealClock()->NowSeconds() - start, 0.3);
}

TEST_F(ChildTest, WrongOutputsAreRefusedWithTheFirstDifferingElement) {
  ExpectFailure("wrong", TrialError::kWrong, "out[5] is ");
  ExpectFailure("forgetful", TrialError::kWrong, "out[63] is nan");
  EXPECT_EQ(Measurer().child_pid(), -1) << "it may have written anywhere: the next one gets a new child";
}

TEST_F(ChildTest, AWrongKernelDoesNotSpoilTheNext) {
  ExpectRight("right");
  ExpectFailure("spoiler", TrialError::kWrong, "64 of 64");
  ExpectRight("right");
}

TEST_F(ChildTest, ACrashCostsOneTrialAndTheChild) {
  ExpectRight("right");
  const pid_t first = Measurer().child_pid();
  ExpectFailure("crash", TrialError::kCrash, "SIGSEGV");
  ExpectRight("right");
  EXPECT_NE(Measurer().child_pid(), first);
}

TEST_F(ChildTest, WhoWritesIntoTheChannelIsNotBelieved) {
  ExpectRight("right");
  ExpectFailure("forger", TrialError::kCrash, "wrote into its channel");
  ExpectFailure("flooder", TrialError::kCrash, "a message that is too long");
  ExpectFailure("wrong", TrialError::kWrong, "out[5] is ");  // no answer is taken for the next one's
  ExpectRight("right");
  ExpectFinalistOut("forger", TrialError::kCrash);
}

// The child's memory may hold anything once a candidate ran; lying_worker answers what its kernel's symbol says.
TEST_F(ChildTest, AnswersThatCannotBeAreNotBelieved) {
  setup_.flop = 1e6;  // at the peak of 1 GFLOP/s: 1 ms
  measurer_ = std::make_unique<ChildMeasurer>(HONE_LYING_WORKER, setup_);
  const auto verdict = [](const std::string& samples, const std::string& median, const std::string& state = "ok") {
    return fmt::format(R"({{"state":"{}","error":"","error_text":"","samples":[{}],"median":{},"disturbed":0,)"
                       R"("retaken":0,"seconds":0.1}})",
                       state, samples, median);
  };
  const Outcome good = Measure(verdict("0.002,0.004,0.003", "0.003"));
  EXPECT_EQ(good.state, TrialState::kOk) << good.error_text;
  EXPECT_EQ(good.median, 0.003);
  EXPECT_TRUE(Must(Measurer().Sound()));
  Measure(verdict("0.003", "0.003"));
  Measure(verdict("0.003", "0.003"));
  const pid_t corrupted = Measurer().child_pid();
  EXPECT_FALSE(Must(Measurer().Sound()));
  EXPECT_NE(Measurer().child_pid(), corrupted);
  EXPECT_TRUE(Must(Measurer().Sound())) << "a new child";
  EXPECT_EQ(Measurer().peak_flops(), 2e9) << "it claims more each time, but only the first claim precedes candidates";
  ExpectFailure(verdict("1e-9,1e-9", "1e-9"), TrialError::kWrong, "faster than the roofline allows");
  EXPECT_EQ(Measure(verdict("1e-9,1e-9", "1e-9")).measure_seconds, 0.1) << "its measuring counts";
  for (const std::string& lie : {verdict("", "0.003"), verdict("0.003,-0.003,0.003", "0.003"), verdict("0.003", "-1"),
                                 verdict("0.003", "0.0001"), verdict("0.003,0.004", "0.004", "pruned"),
                                 verdict("0.003", "0.003", "failed"), std::string("{}"), std::string("7")}) {
    ExpectFailure(lie, TrialError::kCrash, "the measuring child ");
  }
  ExpectFailure("[]", TrialError::kCrash, "the measuring child ");
  EXPECT_EQ(Measure(verdict("0.005", "0.005")).state, TrialState::kOk) << "it claims 1e30 FLOP/s, and a lost device";
  ExpectFailure(verdict("1e-9,1e-9", "1e-9"), TrialError::kWrong, "faster than the roofline allows");
  std::string many = "0.003";
  for (int i = 0; i < setup_.protocol.max_samples; ++i) many += ",0.003";
  ExpectFailure(verdict(many, "0.003"), TrialError::kCrash, "implausible times");
  const std::string text(100000, 'x');
  const Outcome cut = Measure(R"({"state":"failed","error":"wrong","error_text":")" + text +
                              R"(","samples":[],"median":0,"disturbed":0,"retaken":0,"seconds":0})");
  EXPECT_EQ(cut.error, TrialError::kWrong);
  EXPECT_LT(cut.error_text.size(), 5000u);
}

// Such a kernel says nothing about the others.
TEST_F(ChildTest, ACanaryThatIsNotRightInANewChildIsDropped) {
  setup_.flop = 1e6;
  measurer_ = std::make_unique<ChildMeasurer>(HONE_LYING_WORKER, setup_);
  const std::string verdict = R"({"state":"ok","error":"","error_text":"","samples":[SECONDS],"median":SECONDS,)"
                              R"("disturbed":0,"retaken":0,"seconds":0.1})";
  ASSERT_EQ(Measure(ReplaceAll(verdict, "SECONDS", "0.009")).state, TrialState::kOk);
  EXPECT_TRUE(Must(Measurer().Sound()));
  ASSERT_EQ(Measure(ReplaceAll(verdict, "SECONDS", "0.003")).state, TrialState::kOk);
  EXPECT_TRUE(Must(Measurer().Sound())) << "by the next one";
}

TEST_F(ChildTest, AChildIsSoundAsLongAsTheFirstRightKernelIsRight) {
  EXPECT_TRUE(Must(Measurer().Sound()));
  ExpectFailure("wrong", TrialError::kWrong, "out[5] is ");
  ExpectRight("right");
  ExpectRight("right_with_memory");
  EXPECT_TRUE(Must(Measurer().Sound()));
  EXPECT_NE(Measurer().child_pid(), -1);
}

TEST_F(ChildTest, WritingBehindABufferIsACrash) {
  for (const char* symbol : {"overrun", "workspace_overrun", "constant_overrun", "input_overrun"}) {
    ExpectFailure(symbol, TrialError::kCrash, "while verifying");
  }
}

// It reads the memory of its process, and looks for what candidates are compared with and made from.
TEST_F(ChildTest, ReferenceAndInputsCannotBeOverwritten) {
  ExpectFailure("changes_the_reference", TrialError::kCrash, "SIGSEGV: while verifying");
  ExpectFailure("changes_the_inputs", TrialError::kCrash, "SIGSEGV: while verifying");
  ExpectRight("right");
}

// The digest of such outputs differs from run to run; their elements agree within the tolerance.
TEST_F(ChildTest, AKernelMaySumInAnotherOrderInEachRun) { ExpectRight("sums_differently"); }

TEST_F(ChildTest, ThreadsHaveACoreEach) {
  setup_.threads = 2;
  if (UsableCpus().size() < 2) GTEST_SKIP() << "this process may use one core only";
  ExpectRight("pinned");
}

TEST_F(ChildTest, WritingBehindAThreadsScratchIsACrash) {
  setup_.threads = 2;
  ExpectRight("right_with_memory");
  ExpectFailure("scratch_overrun", TrialError::kCrash, "while verifying");
  scratch_bytes_ = 100;
  ExpectFailure("short_scratch_overrun", TrialError::kWrong, "wrote beside a buffer");
  scratch_bytes_ = 0;
  ExpectFailure("right_with_memory", TrialError::kCrash, "while verifying");
}

// Memory beside buffers is checked after every run: one in ten writes there, but computes the right result.
TEST_F(ChildTest, WritingBesideABufferLaterIsFound) {
  setup_.protocol.min_samples = setup_.protocol.max_samples = 20;
  const std::string kText = "right at first, then not: it wrote beside a buffer";
  ExpectFailure("late_underrun", TrialError::kWrong, kText);
  ExpectFailure("late_constant_overrun", TrialError::kWrong, kText);
  scratch_bytes_ = 100;
  ExpectFailure("late_scratch_underrun", TrialError::kWrong, kText);
  ExpectRight("right");  // in the same child, on the same buffers
}

TEST_F(ChildTest, AFinalistThatFailsThisTimeCostsItsOwnSamplesOnly) {
  for (const char* symbol : {"wrong", "late_underrun", "late_constant_overrun"}) {
    ExpectFinalistOut(symbol, TrialError::kWrong);
  }
  ExpectFinalistOut("crash", TrialError::kCrash);
  EXPECT_TRUE(Must(Measurer().MeasureInterleaved({Kernel("crash")}, 7))[0].seconds.empty());
}

TEST_F(ChildTest, MemoryHasALimit) { ExpectRight("hoarder"); }

TEST_F(ChildTest, AHangIsEndedByTheTimeLimit) {
  ExpectRight("right");
  measurer_.reset();
  setup_.protocol.timeout_seconds = 1;
  ExpectFailure("hang", TrialError::kTimeout, "no answer within 1 s");
  measurer_.reset();
  setup_.protocol.timeout_seconds = 60;
  ExpectRight("right");
}

TEST_F(ChildTest, AChildKilledFromOutsideIsReplacedAndTheTrialRepeated) {
  ExpectRight("right");
  const pid_t first = Measurer().child_pid();
  ASSERT_EQ(kill(first, SIGKILL), 0);
  // What runs the candidate dies a moment after the process that the measurer knows.
  for (int i = 0; i < 100 && Measurer().child_pid() == first; ++i) ExpectRight("right");
  EXPECT_NE(Measurer().child_pid(), first);
  ExpectRight("right");
}

// Nobody knows who is at fault.
TEST_F(ChildTest, AChildThatLacksMemoryEveryTimeIsNoVerdict) {
  ExpectFailure("short_of_memory", TrialError::kDevice, "the measuring child exited 75: no memory");
  const auto series = Measurer().MeasureInterleaved({Kernel("right"), Kernel("short_of_memory")}, 3);
  ASSERT_FALSE(series.ok()) << "no finalist is out for that";
  EXPECT_EQ(series.status().kind(), StatusKind::kIo) << series.status().message();
  ExpectRight("right");
}

TEST_F(ChildTest, AHopelessKernelIsPrunedWithALowerBound) {
  const Outcome outcome = Measure("slow", /*incumbent=*/1e-7);
  ASSERT_EQ(outcome.state, TrialState::kPruned) << outcome.error_text;
  ASSERT_EQ(outcome.samples.size(), 2u);
  EXPECT_EQ(outcome.median, std::min(outcome.samples[0], outcome.samples[1]));
}

// The child uses the protocol's patience: beside a neighbour on its core, runs are repeated for that long, and without
// patience disturbances are not detected.
TEST_F(ChildTest, DisturbedRunsAreTakenAgainWithTheProtocolsPatience) {
  const fake::SharedCore core;
  if (!HasSchedstat()) GTEST_SKIP() << kNoSchedstat;
  ASSERT_TRUE(core.shared());
  setup_.threads = 1;
  for (const double patience : {0.2, 0.0}) {
    measurer_.reset();
    setup_.protocol.patience_seconds = patience;
    const Outcome outcome = Measure("long_one");
    ASSERT_EQ(outcome.state, TrialState::kOk) << outcome.error_text;
    EXPECT_EQ(outcome.retaken > 0, patience > 0) << outcome.retaken;
    EXPECT_EQ(outcome.disturbed > 0, patience > 0) << "the neighbour stays, and patience ends";
  }
}

TEST_F(ChildTest, FasterThanTheRooflineIsWrong) {
  setup_.flop = 1e15;
  const Outcome outcome = Measure("right");
  ASSERT_GT(Measurer().peak_flops(), 0);
  EXPECT_EQ(outcome.error, TrialError::kWrong);
  EXPECT_THAT(outcome.error_text, HasSubstr("roofline"));
}

// Winograd: a kernel's declared rounding and arithmetic are used to judge it.
TEST_F(ChildTest, AnAlgorithmMayRoundMoreAndDoLess) {
  setup_.flop = 1e15;
  auto kernel = Kernel("wrong");  // by 1, in one element
  kernel.arithmetic = 1e-12;
  kernel.rounding = 1.01;
  EXPECT_EQ(Must(Measurer().Measure(kernel, 0)).state, TrialState::kOk);
  kernel.rounding = 0.2;
  EXPECT_EQ(Must(Measurer().Measure(kernel, 0)).error, TrialError::kWrong);
}

TEST_F(ChildTest, AMissingFunctionIsACompileErrorAndAMissingFileNoFaultOfACandidate) {
  ExpectFailure("no_such_function", TrialError::kCompile, "no_such_function");
  auto kernel = Kernel("right");
  kernel.path = dir_.Join("none.so");
  EXPECT_EQ(Must(Measurer().Measure(kernel, 0)).error, TrialError::kDevice);
}

TEST_F(ChildTest, ArgumentsThatDoNotFitAreRefusedBeforeTheCall) {
  auto kernel = Kernel("right");
  kernel.kernel.args[0].elements = kCount + 1;
  auto outcome = Must(Measurer().Measure(kernel, 0));
  EXPECT_EQ(outcome.error, TrialError::kCompile);
  EXPECT_THAT(outcome.error_text, HasSubstr("65"));
}

TEST_F(ChildTest, InterleavedRoundsGiveASampleEach) {
  const auto series = Must(Measurer().MeasureInterleaved({Kernel("right"), Kernel("slow")}, 7));
  ASSERT_EQ(series.size(), 2u);
  for (const Series& each : series) EXPECT_EQ(each.seconds.size(), 7u);
  EXPECT_GT(Median(series[1].seconds), Median(series[0].seconds)) << "half a million iterations against 64";
}

TEST_F(ChildTest, ARunThatIsWrongLaterIsFound) {
  // Right when verified, wrong in every tenth run: its times must not count.
  setup_.protocol.min_samples = setup_.protocol.max_samples = 20;
  ExpectFailure("moody", TrialError::kWrong, "right at first, then not: out[");
  ExpectFinalistOut("moody", TrialError::kWrong);
  ExpectFailure("lazy", TrialError::kWrong, "is nan");
}

TEST_F(ChildTest, WritingInFrontOfABufferIsFound) {
  ExpectFailure("underrun", TrialError::kWrong, "wrote beside a buffer");
  ExpectRight("right");  // in the same child, on the same buffers: the earlier kernel's fault is not this one's
  ExpectFailure("far_underrun", TrialError::kCrash, "while verifying");
}

TEST_F(ChildTest, AMissingReferenceIsAnErrorOfTheSetupAndNotOfACandidate) {
  setup_.reference_path = dir_.Join("none");
  EXPECT_THAT(Measurer().Measure(Kernel("right"), 0).status().message(), HasSubstr("none"));
}

}  // namespace
}  // namespace hone::measure
