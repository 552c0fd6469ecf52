// Small parts of a tuning job: task files, closings, stamps, summaries.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "session/stamp.h"
#include "session/summary.h"
#include "session/task_file.h"

namespace hone::session {
namespace {

std::string TaskText(const std::string& id, const std::string& workload, const std::string& more = "") {
  return fmt::format(R"({{"version": 1, "id": "{}", "workload": "{}", "target": "{}", "flop": 10{}}})", id, workload,
                     Target().Text(), more);
}

constexpr char kConv[] = "conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1,1,1,1)";

std::string ConvId() { return TaskId(*Workload::Parse(kConv), Target().Text()); }

TEST(TaskFileTest, ReadsWhatExtractWrites) {
  auto task = ParseTaskFile(TaskText(ConvId(), kConv), "t.json");
  ASSERT_TRUE(task.ok()) << task.status().message();
  EXPECT_EQ(task->workload.Text(), kConv);
  EXPECT_EQ(task->flop, 10);
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
    auto task = ParseTaskFile(c.text, "t.json");
    ASSERT_FALSE(task.ok()) << c.text;
    EXPECT_NE(task.status().message().find("t.json"), std::string::npos) << task.status().message();
    EXPECT_NE(task.status().message().find(c.expected), std::string::npos) << task.status().message();
    EXPECT_EQ(task.status().message().find('\n'), std::string::npos) << task.status().message();
  }
}

TEST(ClosingTest, SurvivesItsTextForm) {
  Closing closing;
  closing.trials = 64;
  closing.reason = StopReason::kEarlyStop;
  closing.early_stop = 20;
  closing.finalists = 8;
  closing.drift = 1.25;
  const auto read = Closing::FromSettings(closing.ToSettings());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->trials, 64);
  EXPECT_EQ(read->reason, StopReason::kEarlyStop);
  EXPECT_EQ(read->early_stop, 20);
  EXPECT_EQ(read->finalists, 8);
  EXPECT_EQ(read->drift, 1.25);
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
  EXPECT_NE(text.find("none of 3 trials"), std::string::npos) << text;
  EXPECT_NE(text.find("2 x compile, first: no such register"), std::string::npos) << text;
  EXPECT_NE(text.find("1 x wrong, first: out[0] is 1"), std::string::npos) << text;
  EXPECT_NE(text.find("hone-tune --task t.json --trial 17"), std::string::npos) << text;
  EXPECT_EQ(text.find("another reason"), std::string::npos) << text;
}

TEST(StampTest, EqualStatesGiveEqualBytesAndEveryInputChangesThem) {
  auto dir = TempDir::Create();
  ASSERT_TRUE(dir.ok());
  StampInputs inputs{"conv2d-1", "task", "settings", "space 1", "here", {}};
  History history("here");
  Outcome ok;
  ok.state = TrialState::kOk;
  ok.median = 1e-3;
  history.Add(ok);
  const std::string text = StampText(inputs, history, StopReason::kTrials);
  EXPECT_EQ(text, StampText(inputs, history, StopReason::kTrials));
  const std::string path = dir->Join("stamps/x.done");
  EXPECT_TRUE(*WriteStamp(path, text));
  EXPECT_FALSE(*WriteStamp(path, text));
  for (std::string StampInputs::* field : {&StampInputs::task_text, &StampInputs::settings_text, &StampInputs::abi}) {
    StampInputs changed = inputs;
    changed.*field += "x";
    EXPECT_NE(StampText(changed, history, StopReason::kTrials), text);
  }
}

}  // namespace
}  // namespace hone::session
