// Small parts of a tuning job: task files, closings, stamps, summaries.
#include <fmt/format.h>

#include <cstdio>

#include "base/file.h"
#include "base/interrupt.h"
#include "common/expect.h"
#include "pipeline/task_file.h"
#include "session/stamp.h"
#include "session/progress.h"
#include "session/tune_job.h"

namespace hone::session {
namespace {

TEST(TaskFileTest, WhatIsWrittenIsReadAgain) {
  const std::string workload = "dense(f32[1,4], f32[8,4])", target = Target().Text();
  const std::string id = TaskId(*Workload::Parse(workload), target);
  auto task = Must(pipeline::ParseTaskFile(
      pipeline::TaskFileText({id, *Workload::Parse(workload), Target(), 64, "", "", ""}), "t.json"));
  EXPECT_EQ(task.id, id);
  EXPECT_EQ(task.workload.Text(), workload);
  EXPECT_EQ(task.target.Text(), target);
  EXPECT_EQ(task.flop, 64);
}

TEST(ProtocolTest, TheTextOfBlocksSaysThatTrimmedMeansCount) {
  Protocol protocol;
  EXPECT_EQ(TimingText(protocol), "") << "adaptive";
  EXPECT_FALSE(CountsTrimmedMeans("here" + TimingText(protocol)));
  protocol.number = 4;
  protocol.repeat = 6;
  protocol.min_repeat_ms = 2.5;
  EXPECT_EQ(TimingText(protocol), "; number=4 repeat=6 min_repeat_ms=2.5 trimmed");
  EXPECT_TRUE(CountsTrimmedMeans("here" + TimingText(protocol)));
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

TEST(TaskFileTest, ReadsWhatExtractWrites) {
  auto task = Must(pipeline::ParseTaskFile(TaskText(ConvId(), kConv), "t.json"));
  EXPECT_EQ(task.workload.Text(), kConv);
  EXPECT_EQ(task.flop, 10);
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
  Closing closing;
  closing.trials = 64;
  closing.reason = StopReason::kEarlyStop;
  closing.early_stop = 20;
  closing.finalists = 8;
  closing.drift = 1.25;
  closing.expected_gain = 0.02;
  closing.winograd = 4;
  closing.tf32 = true;
  const auto read = Closing::FromSettings(closing.ToSettings());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->trials, 64);
  EXPECT_EQ(read->reason, StopReason::kEarlyStop);
  EXPECT_EQ(read->early_stop, 20);
  EXPECT_EQ(read->finalists, 8);
  EXPECT_EQ(read->drift, 1.25);
  EXPECT_EQ(read->expected_gain, 0.02);
  EXPECT_EQ(read->winograd, 4);
  EXPECT_TRUE(read->tf32);
  // Of a version that knew neither.
  const auto old = Closing::FromSettings(
      R"({"closing": {"trials": 1, "reason": "trials", "early_stop": 0, "finalists": 8, "drift": 1}})");
  ASSERT_TRUE(old.has_value());
  EXPECT_EQ(old->winograd, 6);
  EXPECT_FALSE(old->tf32);
  EXPECT_FALSE(Closing::FromSettings(R"({"version": 1, "trials": 64})").has_value());
}

Outcome Failed(TrialError error, const std::string& text, uint64_t index) {
  Outcome outcome;
  outcome.error = error;
  outcome.error_text = text;
  outcome.config.index = index;
  return outcome;
}

TEST(SummaryTest, SaysWhatFailedHowOftenAndHowToTryOneAlone) {
  const std::string text =
      FailureSummary({Failed(TrialError::kCompile, "no such register", 17),
                      Failed(TrialError::kWrong, "out[0] is 1", 4), Failed(TrialError::kCompile, "another reason", 5)},
                     "hone-tune --task t.json --trial");
  EXPECT_THAT(text, HasSubstr("no trial of 3 was correct"));
  EXPECT_THAT(text, HasSubstr("2 x compile, first: no such register"));
  EXPECT_THAT(text, HasSubstr("1 x wrong, first: out[0] is 1"));
  EXPECT_THAT(text, HasSubstr("hone-tune --task t.json --trial 17"));
  EXPECT_THAT(text, Not(HasSubstr("another reason")));
}

TEST(StampTest, EqualStatesGiveEqualBytesAndEveryInputChangesThem) {
  auto dir = Must(TempDir::Create());
  StampInputs inputs{"conv2d-1", "task", "settings", "space 1", "here", {}};
  History history("here");
  Outcome ok;
  ok.state = TrialState::kOk;
  ok.median = 1e-3;
  history.Add(ok);
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
