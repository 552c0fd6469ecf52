// Small parts of a tuning job: task files, closing rows, stamps, summaries.
#include <fmt/format.h>

#include <cstdio>

#include "base/file.h"
#include "base/interrupt.h"
#include "common/expect.h"
#include "pipeline/task_list.h"
#include "session/history.h"
#include "session/progress.h"
#include "session/stamp.h"
#include "session/tune_job.h"

namespace hone::session {
namespace {

TEST(ProtocolTest, TheTextOfBlocksSaysThatTrimmedMeansCount) {
  Protocol protocol;
  EXPECT_EQ(TimingText(protocol), "") << "adaptive";
  EXPECT_FALSE(CountsTrimmedMeans("here" + TimingText(protocol)));
  protocol.number = 4, protocol.repeat = 6, protocol.min_repeat_ms = 2.5;
  EXPECT_EQ(TimingText(protocol), "; number=4 repeat=6 min_repeat_ms=2.5 trimmed");
  EXPECT_TRUE(CountsTrimmedMeans("here" + TimingText(protocol)));
}

// Records of earlier versions lack the release.
TEST(ProtocolTest, MachinesAreTheSameIfOnlyOneNamesTheRelease) {
  const auto machine = [](const std::string& release, const std::string& power) {
    return "cuda=GPU; driver=CUDA 12.4" + release + power + "; protocol=4";
  };
  const std::string old = machine("", ""), present = machine("; release=550.54", "");
  EXPECT_TRUE(SameMachine(old, present));
  EXPECT_TRUE(SameMachine(present, old));
  EXPECT_TRUE(SameMachine(present, present));
  EXPECT_TRUE(SameMachine("cuda=GPU; release=550.54", "cuda=GPU"));
  EXPECT_FALSE(SameMachine(present, machine("; release=560.1", "")));
  EXPECT_FALSE(SameMachine(old, machine("", "; power=300 W")));
  EXPECT_FALSE(SameMachine(present, machine("; release=550.54", "; power=300 W")));
  EXPECT_FALSE(SameMachine(old, machine("; release=550.54", "; power=300 W")));
}

TEST(ProtocolTest, AFileOfRecordsHasOneFingerprintForThisMachine) {
  const std::string old = "cuda=GPU; protocol=4", present = "cuda=GPU; release=550.54; protocol=4";
  const auto recorded = [](const std::vector<std::string>& texts, const std::string& ours) {
    std::vector<record::Session> sessions;
    for (const std::string& text : texts) sessions.push_back({.fingerprint = text});
    return RecordedFingerprint(sessions, ours);
  };
  EXPECT_EQ(recorded({}, present), present);
  EXPECT_EQ(recorded({old}, present), old) << "its trials still count";
  EXPECT_EQ(recorded({old, present}, present), present);
  EXPECT_EQ(recorded({present, "cpu=other"}, old), present) << "NVML is gone";
  EXPECT_EQ(recorded({"cuda=GPU; release=560.1; protocol=4"}, present), present);
  EXPECT_EQ(recorded({"cuda=GPU; protocol=3"}, present), present);
}

// AutoTVM's rule: number = max(min_repeat / time of one run + 1, 1.618 x number).
TEST(ProtocolTest, AShortBlockIsFollowedByOneOfMoreRuns) {
  EXPECT_EQ(measure::NextNumber(4, 4e-3, 10e-3), 11);
  EXPECT_EQ(measure::NextNumber(100, 9.9e-3, 10e-3), 161);
  EXPECT_EQ(measure::NextNumber(1, 0, 10e-3), 1000000000) << "a clock that stands still";
}

std::string TaskText(const std::string& id, const std::string& workload, const std::string& more = "") {
  return fmt::format(R"({{"version": 1, "id": "{}", "workload": "{}", "target": "{}", "flop": 10{}}})", id, workload,
                     Target().Text(), more);
}

constexpr char kConv[] = "conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1,1,1,1)";

std::string ConvId() { return TaskId(*Workload::Parse(kConv), Target().Text()); }

TEST(TaskFileTest, WhatExtractWritesIsRead) {
  const Workload workload = *Workload::Parse(kConv);
  const std::string text = pipeline::TaskFileText({ConvId(), workload, Target(), 64, "", "", ""});
  const auto task = Must(pipeline::ParseTaskFile(text, "t.json"));
  EXPECT_EQ(task.id, ConvId());
  EXPECT_EQ(task.workload.Text(), kConv);
  EXPECT_EQ(task.target.Text(), Target().Text());
  EXPECT_EQ(task.flop, 64);
  EXPECT_EQ(Must(pipeline::ParseTaskFile(TaskText(ConvId(), kConv), "t.json")).flop, 10);
}

TEST(TaskFileTest, EveryMistakeNamesTheFileAndThePlace) {
  const struct {
    std::string text, expected;
  } cases[] = {
      {"{", "t.json:1"},
      {TaskText(ConvId(), kConv, R"(, "flops": 3)"), "flops"},
      {TaskText("conv2d-0000000000000000", kConv), "/id"},
      {TaskText(ConvId(), "conv2d(f32[1,16"), "/workload"},
      {R"({"version": 2})", "version"},
      {R"({"version": 1, "id": "x"})", "/workload"},
  };
  for (const auto& c : cases) {
    auto task = pipeline::ParseTaskFile(c.text, "t.json");
    EXPECT_THAT(task.status().message(), HasSubstr("t.json"));
    EXPECT_THAT(task.status().message(), HasSubstr(c.expected));
    EXPECT_THAT(task.status().message(), Not(HasSubstr("\n")));
  }
}

TEST(ReferenceTest, AnInterruptEndsItAndNothingIsWritten) {
  const TempDir dir = *TempDir::Create();
  const Workload workload = *Workload::Parse(kConv);
  measure::TaskSetup setup;
  RequestInterrupt();
  const auto cut = EnsureReference(workload, Target(), dir.Join("t.reference"), &setup);
  ClearInterruptForTest();
  EXPECT_EQ(cut.status().kind(), StatusKind::kInterrupted);
  EXPECT_FALSE(Exists(dir.Join("t.reference")));
  EXPECT_TRUE(Must(EnsureReference(workload, Target(), dir.Join("t.reference"), &setup)));
}

TEST(ClosingTest, SurvivesItsTextForm) {
  const Closing closing{.trials = 64,
                        .reason = StopReason::kEarlyStop,
                        .early_stop = 20,
                        .finalists = 8,
                        .drift = 1.25,
                        .expected_gain = 0.02,
                        .tuner_gain = 0.5,
                        .winograd = 4,
                        .tf32 = true};
  const auto read = Closing::FromSettings(closing.ToSettings());
  ASSERT_TRUE(read.has_value());
  const auto fields = [](const Closing& c) {
    return std::tuple(c.trials, c.reason, c.early_stop, c.finalists, c.drift, c.expected_gain, c.tuner_gain, c.winograd,
                      c.tf32);
  };
  EXPECT_EQ(fields(*read), fields(closing));
  // From a version that knew neither.
  const auto old = Closing::FromSettings(
      R"({"closing": {"trials": 1, "reason": "trials", "early_stop": 0, "finalists": 8, "drift": 1}})");
  ASSERT_TRUE(old.has_value());
  EXPECT_LT(old->tuner_gain, 0);
  EXPECT_EQ(old->winograd, 6);
  EXPECT_FALSE(old->tf32);
  EXPECT_FALSE(Closing::FromSettings(R"({"version": 1, "trials": 64})").has_value());
}

TEST(SummaryTest, SaysWhatFailedHowOftenAndHowToTryOneAlone) {
  const auto failed = [](TrialError error, const std::string& text, PointIndex index) {
    return Outcome{.config = {"", index, {}}, .error = error, .error_text = text};
  };
  const std::string text =
      FailureSummary({failed(TrialError::kCompile, "no such register", 17),
                      failed(TrialError::kWrong, "out[0] is 1", 4), failed(TrialError::kCompile, "another reason", 5)},
                     "hone-tune --task t.json --trial");
  EXPECT_THAT(text, HasSubstr("no trial of 3 was correct"));
  EXPECT_THAT(text, HasSubstr("2 x compile, first: no such register"));
  EXPECT_THAT(text, HasSubstr("1 x wrong, first: out[0] is 1"));
  EXPECT_THAT(text, HasSubstr("hone-tune --task t.json --trial 17"));
  EXPECT_THAT(text, Not(HasSubstr("another reason")));
  // --trial takes 64 bits.
  const Outcome beyond = failed(TrialError::kCrash, "", kNoIndex), within = failed(TrialError::kWrong, "", 17);
  EXPECT_THAT(FailureSummary({beyond, within}, "hone-tune --trial"), HasSubstr("one alone: hone-tune --trial 17"));
  EXPECT_THAT(FailureSummary({beyond}, "hone-tune --trial"), Not(HasSubstr("--trial")));
}

TEST(StampTest, EqualStatesGiveEqualBytesAndEveryInputChangesThem) {
  auto dir = Must(TempDir::Create());
  StampInputs inputs{"conv2d-1", "task", "settings", "space 1", "here", {}};
  History history("here");
  history.Add({.state = TrialState::kOk, .median = 1e-3});
  const std::string text = StampText(inputs, history, StopReason::kTrials);
  EXPECT_EQ(text, StampText(inputs, history, StopReason::kTrials));
  const std::string path = dir.Join("stamps/x.done");
  EXPECT_TRUE(*WriteStamp(path, text));
  EXPECT_FALSE(*WriteStamp(path, text));
  for (std::string StampInputs::*field : {&StampInputs::task_text, &StampInputs::settings_text, &StampInputs::abi}) {
    StampInputs changed = inputs;
    changed.*field += "x";
    EXPECT_NE(StampText(changed, history, StopReason::kTrials), text);
  }
}

}  // namespace
}  // namespace hone::session
