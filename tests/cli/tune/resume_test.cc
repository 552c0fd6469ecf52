// hone-tune killed, interrupted, repeated, with other budgets: invented times, so that results can be compared exactly.
#include <signal.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/rng.h"
#include "tune_folder.h"

namespace hone {
namespace {

const std::vector<std::string> kSlowFake = {"--fake-measure", "7,0.002"};

class ResumeTest : public TuneFolder {
 protected:
  // The trials and the stamp of a run that nothing disturbs.
  void Undisturbed(const std::vector<std::string>& fake = kFake) {
    const CommandResult result = Run(fake);
    ASSERT_EQ(result.status.code, kDone) << result.err;
    indices_ = Indices();
    stamp_ = StampText();
    ASSERT_EQ(indices_.size(), 40u);
    ASSERT_FALSE(stamp_.empty());
    Reset();
  }

  std::vector<uint64_t> indices_;
  std::string stamp_;
};

TEST_F(ResumeTest, KilledAtRandomMomentsItEndsWithTheSameTrialsAndStamp) {
  Undisturbed();
  Rng rng(20);
  size_t kept = 0;
  for (int round = 0; round < 12; ++round) {
    Subprocess process = Start(kSlowFake);
    RealClock()->SleepSeconds(0.01 + 0.09 * rng.UniformDouble());
    process.Kill(SIGKILL);
    ASSERT_TRUE(process.Wait(60).ok());
    const std::vector<uint64_t> now = Indices();
    ASSERT_GE(now.size(), kept) << "a committed trial is gone";
    kept = now.size();
    for (size_t i = 0; i < kept; ++i) ASSERT_EQ(now[i], indices_[i]) << "round " << round << ", trial " << i;
  }
  const CommandResult last = Run(kFake);
  ASSERT_EQ(last.status.code, kDone) << last.err;
  EXPECT_EQ(Indices(), indices_);
  EXPECT_EQ(StampText(), stamp_);
  auto store = record::Store::OpenForReading(Db());
  ASSERT_TRUE(store.ok());
  auto findings = (*store)->Verify();
  ASSERT_TRUE(findings.ok());
  EXPECT_TRUE(findings->empty()) << findings->at(0);
}

TEST_F(ResumeTest, EverySignalEndsItWith75AndTheSameCommandGoesOn) {
  Undisturbed();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    Subprocess process = Start({"--fake-measure", "7,0.02"});
    while (!Exists(Path("records/t.progress.json")) && process.Running()) RealClock()->SleepSeconds(0.002);
    process.Kill(signal);
    auto status = process.Wait(60);
    ASSERT_TRUE(status.ok());
    EXPECT_EQ(status->signal, 0);
    EXPECT_EQ(status->code, kInterrupted) << "signal " << signal;
    EXPECT_FALSE(Exists(Stamp()));
    const size_t kept = Indices().size();
    EXPECT_GT(kept, 0u) << "what was measured is kept";
    EXPECT_LT(kept, indices_.size());
    auto progress = ReadFile(Path("records/t.progress.json"));
    ASSERT_TRUE(progress.ok());
    EXPECT_NE(progress->find("\"interrupted\""), std::string::npos) << *progress;
    ASSERT_EQ(Run(kFake).status.code, kDone);
    EXPECT_EQ(Indices(), indices_) << "signal " << signal;
    EXPECT_EQ(StampText(), stamp_) << "signal " << signal;
    Reset();
  }
}

TEST_F(ResumeTest, DoublingTheBudgetRunsTheMissingTrialsAndHalvingItNone) {
  WriteSettings(20);
  ASSERT_EQ(Run(kFake).status.code, kDone);
  const std::vector<uint64_t> first = Indices();
  ASSERT_EQ(first.size(), 20u);
  WriteSettings(40);
  ASSERT_EQ(Run(kFake).status.code, kDone);
  std::vector<uint64_t> both = Indices();
  ASSERT_EQ(both.size(), 40u);
  EXPECT_EQ(std::vector<uint64_t>(both.begin(), both.begin() + 20), first);
  const auto records = ReadFile(Db());
  WriteSettings(20);
  ASSERT_EQ(Run(kFake).status.code, kDone);
  EXPECT_EQ(*ReadFile(Db()), *records);
  EXPECT_NE(StampText().find("\"trials\": 20"), std::string::npos) << "the stamp names the budget it met";
}

TEST_F(ResumeTest, ADeletedStampIsWrittenAgainWithoutMeasuring) {
  ASSERT_EQ(Run(kFake).status.code, kDone);
  const std::string stamp = StampText();
  const auto records = ReadFile(Db());
  ASSERT_TRUE(Remove(Stamp()).ok());
  const CommandResult again = Run(kFake);
  ASSERT_EQ(again.status.code, kDone) << again.err;
  EXPECT_NE(again.err.find("nothing to do"), std::string::npos) << again.err;
  EXPECT_EQ(StampText(), stamp);
  EXPECT_EQ(*ReadFile(Db()), *records);
}

TEST_F(ResumeTest, DeletedRecordsWithAStampAreSaidAndTunedAnew) {
  Undisturbed();
  ASSERT_EQ(Run(kFake).status.code, kDone);
  ASSERT_TRUE(Remove(Db()).ok());
  const CommandResult again = Run(kFake);
  ASSERT_EQ(again.status.code, kDone) << again.err;
  EXPECT_NE(again.err.find("are gone"), std::string::npos) << again.err;
  EXPECT_EQ(Indices(), indices_);
  EXPECT_EQ(StampText(), stamp_);
}

TEST_F(ResumeTest, ASecondTunerIsRefusedWithHostAndPid) {
  Subprocess first = Start({"--fake-measure", "7,0.05"});
  while (!Exists(Path("records/t.progress.json")) && first.Running()) RealClock()->SleepSeconds(0.002);
  const CommandResult second = Run(kFake);
  EXPECT_EQ(second.status.code, kFailed);
  EXPECT_NE(second.err.find(std::to_string(first.pid())), std::string::npos) << second.err;
  first.Kill(SIGTERM);
  ASSERT_TRUE(first.Wait(60).ok());
  EXPECT_EQ(Run(kFake).status.code, kDone);
}

TEST_F(ResumeTest, EarlyStopIsNamedInTheStamp) {
  WriteSettings(40, R"(, "early_stop": 3)");
  ASSERT_EQ(Run(kFake).status.code, kDone);
  EXPECT_NE(StampText().find("\"met_by\": \"early-stop\""), std::string::npos) << StampText();
  const size_t count = Indices().size();
  EXPECT_LT(count, 40u);
  ASSERT_EQ(Run(kFake).status.code, kDone);
  EXPECT_EQ(Indices().size(), count);
}

TEST_F(ResumeTest, WhenEverythingFailsTheSummarySaysHowAndThereIsNoStamp) {
  const std::vector<std::string> all_fail = {"--fake-measure", "7,0,1"};
  for (int round = 0; round < 2; ++round) {
    const CommandResult result = Run(all_fail);
    EXPECT_EQ(result.status.code, kFailed);
    EXPECT_NE(result.err.find("no trial of 40 was correct"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("x compile, first: fake"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("to try one alone: hone-tune --task"), std::string::npos) << result.err;
    EXPECT_FALSE(Exists(Stamp()));
    EXPECT_EQ(Indices().size(), 40u);
  }
}

}  // namespace
}  // namespace hone
