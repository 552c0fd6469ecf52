#include "record/distill.h"

#include "sample.h"

namespace hone::record {
namespace {

class DistillTest : public RecordTest {
 protected:
  // The numbers of the configs in the new file, in order.
  std::vector<int64_t> Kept() {
    const auto store = Must(Store::OpenForReading(out_));
    EXPECT_EQ(Must(store->Verify()), std::vector<std::string>());
    std::vector<int64_t> kept;
    const std::vector<Trial> trials = Must(store->AllTrials());
    for (const Trial& trial : trials) {
      EXPECT_EQ(trial.ordinal, static_cast<int64_t>(kept.size()));
      kept.push_back(static_cast<int64_t>(trial.outcome.config.index));
    }
    return kept;
  }
  static ChooseTrials These(std::vector<int64_t> ordinals) {
    return [ordinals](const Store&) -> Result<std::vector<int64_t>> { return ordinals; };
  }
  void ExpectNothingIsLeft() {
    const auto names = Must(ListDir(dir_.path()));
    EXPECT_EQ(names, std::vector<std::string>{"records"});
  }

  const std::string out_ = dir_.Join("out.db");
};

Outcome Timed(int64_t unroll, double seconds) {
  return Good(unroll, std::vector<double>(40, seconds), "a" + std::to_string(unroll));
}

TEST_F(DistillTest, KeepsTheChosenTrialsOnly) {
  std::vector<Outcome> outcomes;
  for (int i = 0; i < 200; ++i) outcomes.push_back(Timed(i, 1e-3 * (i + 1)));
  outcomes.push_back(Bad(200, TrialError::kCrash, "signal 11"));
  Append(outcomes);
  Session other = SampleSession("f2");
  other.started = 2000;
  Append({Timed(300, 2e-3)}, other);
  const std::string before = Must(ReadFile(path_));
  const DistillCount count = Must(DistillRecords(out_, {path_}, These({7, 3})));
  EXPECT_EQ(count.trials, 202);
  EXPECT_EQ(count.kept, 2);
  EXPECT_EQ(Kept(), (std::vector<int64_t>{3, 7}));
  const auto store = Must(Store::OpenForReading(out_));
  EXPECT_EQ(store->meta().workload, SampleMeta().workload);
  EXPECT_EQ(store->meta().templates, SampleMeta().templates);
  EXPECT_EQ(Must(store->Trials())[0].outcome.samples, std::vector<double>(40, 4e-3));
  ASSERT_EQ(Must(store->Sessions()).size(), 1u);  // the other machine's has no trial any more
  EXPECT_EQ(Must(store->Sessions())[0].fingerprint, "f1");
  EXPECT_LT(Must(FileSize(out_)) * 4, Must(FileSize(path_)));
  EXPECT_EQ(Must(ReadFile(path_)), before);
}

TEST_F(DistillTest, FilesOfOneTaskAreMerged) {
  Append({Timed(1, 1e-3), Timed(2, 2e-3)});
  const std::string second = dir_.Join("records/second.db");
  Append({Timed(1, 1e-3), Timed(3, 3e-3)}, SampleSession(), SampleMeta(), second);
  EXPECT_EQ(Must(DistillRecords(out_, {path_, second}, These({0, 2}))).trials, 3);
  EXPECT_EQ(Kept(), (std::vector<int64_t>{1, 3}));
}

// Without the samples of the trial that was timed, the file would not pass its own check.
TEST_F(DistillTest, KeepsTheTrialThatHasTheTimeOfAChosenOne) {
  Outcome copy = Timed(2, 1e-3);
  copy.artifact_digest = "a1";
  copy.samples.clear();
  Append({Timed(0, 5e-3), Timed(1, 1e-3), copy, Timed(3, 2e-3)});
  EXPECT_EQ(Must(DistillRecords(out_, {path_}, These({2}))).kept, 2);
  EXPECT_EQ(Kept(), (std::vector<int64_t>{1, 2}));
}

TEST_F(DistillTest, KeepingAllTrialsKeepsTheEndOfTuning) {
  Append({Timed(0, 1e-3)});
  Session closing = SampleSession();
  closing.settings = Closing{.trials = 1, .reason = StopReason::kTrials}.ToSettings();
  Append({}, closing);
  Must(DistillRecords(out_, {path_}, These({0})));
  EXPECT_EQ(Must(Must(Store::OpenForReading(out_))->Sessions()).size(), 2u);
}

TEST_F(DistillTest, NeverOverwrites) {
  Append({Timed(0, 1e-3)});
  Must(WriteFileAtomic(out_, "mine"));
  const Status refused = DistillRecords(out_, {path_}, These({0})).status();
  EXPECT_EQ(refused.kind(), StatusKind::kInvalid);
  EXPECT_EQ(refused.message(), out_ + ": is there already; name another folder");
  EXPECT_EQ(Must(ReadFile(out_)), "mine");
}

TEST_F(DistillTest, WritesNothingWithoutAChosenTrialOrAfterAnError) {
  Append({Bad(0, TrialError::kCrash, "signal 11")});
  EXPECT_EQ(Must(DistillRecords(out_, {path_}, These({}))).kept, 0);
  ExpectNothingIsLeft();
  const auto lost = [] { return Status::Io("lost the lock"); };
  EXPECT_EQ(DistillRecords(out_, {path_}, These({0}), lost).status().message(), "lost the lock");
  ExpectNothingIsLeft();
  const auto fails = [](const Store&) -> Result<std::vector<int64_t>> { return Status::Invalid("no choice"); };
  EXPECT_EQ(DistillRecords(out_, {path_}, fails).status().message(), "no choice");
  ExpectNothingIsLeft();
  EXPECT_EQ(DistillRecords(out_, {dir_.Join("gone.db")}, These({0})).status().kind(), StatusKind::kNotFound);
  ExpectNothingIsLeft();
}

}  // namespace
}  // namespace hone::record
