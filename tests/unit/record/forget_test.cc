#include "record/forget.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "old_format.h"
#include "sample.h"

namespace hone::record {
namespace {

constexpr double kNever = 0;  // a session that was killed

class ForgetTest : public RecordTest {
 protected:
  // One session more; returns its id.
  int64_t Fill(double started, double ended, const std::vector<Outcome>& outcomes, const std::string& machine = "f1",
               double tuning_seconds = 0) {
    Session session = SampleSession(machine);
    session.started = started;
    const auto store = Open();
    const int64_t id = Must(store->BeginSession(session));
    Must(store->Append(id, outcomes, tuning_seconds));
    if (ended > 0) Must(store->EndSession(id, ended));
    return id;
  }
  void Close(double ended, int64_t trials, const std::string& machine = "f1") {
    Session session = SampleSession(machine);
    session.started = ended;
    session.settings = Closing{.trials = trials, .reason = StopReason::kTrials}.ToSettings();
    const auto store = Open();
    Must(store->EndSession(Must(store->BeginSession(session)), ended));
  }

  // Sets the file's time.
  void WrittenAt(time_t seconds) {
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  }

  std::vector<int64_t> Found(TrialError error, double since = 0) {
    std::vector<int64_t> ordinals;
    const std::vector<Trial> trials = Must(FindForgettable(path_, error, since));
    for (const Trial& trial : trials) ordinals.push_back(trial.ordinal);
    return ordinals;
  }
  // The numbers of the configs that are left, in order.
  std::vector<int64_t> Left() {
    EXPECT_EQ(Findings(), std::vector<std::string>());
    std::vector<int64_t> left;
    const std::vector<Trial> trials = Must(OpenToRead()->AllTrials());
    for (const Trial& trial : trials) {
      EXPECT_EQ(trial.ordinal, static_cast<int64_t>(left.size()));
      left.push_back(static_cast<int64_t>(trial.outcome.config.index));
    }
    return left;
  }
  std::vector<Session> Sessions() { return Must(OpenToRead()->Sessions()); }
};

using Ordinals = std::vector<int64_t>;

Outcome Copy(int64_t unroll, const Outcome& of) {
  Outcome copy = of;
  copy.config = SampleConfig(unroll);
  copy.samples.clear();
  return copy;
}

Outcome Crash(int64_t unroll, const std::string& artifact) {
  Outcome crash = Bad(unroll, TrialError::kCrash, "signal 11");
  crash.artifact_digest = artifact;
  return crash;
}

TEST_F(ForgetTest, OthersMoveUpWithTheirSamples) {
  const Outcome timed = Good(13, {3e-3, 1e-3, 2e-3}, "aa");
  Fill(1000, 1100,
       {Bad(10, TrialError::kCompile, "x"), Good(11, {5e-3}, "bb"), Bad(12, TrialError::kCompile, "y"), timed,
        Bad(14, TrialError::kCrash, "x"), Copy(15, timed)});
  EXPECT_EQ(Found(TrialError::kCompile), (Ordinals{0, 2}));
  EXPECT_EQ(Found(TrialError::kTimeout), Ordinals());
  Must(RemoveTrials(path_, {0, 2}));
  EXPECT_EQ(Left(), (Ordinals{11, 13, 14, 15}));
  const std::vector<Trial> trials = Must(OpenToRead()->AllTrials());
  EXPECT_EQ(trials[0].outcome.samples, (std::vector<double>{5e-3}));
  EXPECT_EQ(trials[1].outcome.samples, timed.samples);
  EXPECT_EQ(trials[2].outcome.error, TrialError::kCrash);
  EXPECT_EQ(trials[3].outcome.median, 2e-3);
  EXPECT_EQ((*OpenToRead()->Best("f1"))->ordinal, 1);
  // The next trial gets the next number.
  Fill(2000, 2100, {Good(10, {4e-3}, "cc")});
  EXPECT_EQ(Left(), (Ordinals{11, 13, 14, 15, 10}));
}

TEST_F(ForgetTest, ASessionCountsIfItStillRan) {
  for (const auto& [started, ended] : {std::pair(1000.0, 1100.0), {2000, kNever}, {3000, 3100}}) {
    Fill(started, ended, {Bad(static_cast<int64_t>(started), TrialError::kCompile, "x")});
  }
  EXPECT_EQ(Found(TrialError::kCompile, 1100), (Ordinals{0, 1, 2}));
  EXPECT_EQ(Found(TrialError::kCompile, 1101), (Ordinals{1, 2}));
  EXPECT_EQ(Found(TrialError::kCompile, 2999), (Ordinals{1, 2})) << "killed, at the latest when the next one began";
  EXPECT_EQ(Found(TrialError::kCompile, 3001), (Ordinals{2}));
  EXPECT_EQ(Found(TrialError::kCompile, 3101), Ordinals());
  Fill(4000, kNever, {Bad(4, TrialError::kCompile, "x")});
  WrittenAt(5000);
  EXPECT_EQ(Found(TrialError::kCompile, 5000), (Ordinals{3})) << "killed, at the latest when the file was written";
  EXPECT_EQ(Found(TrialError::kCompile, 5001), Ordinals());
}

// Forgetting writes the file and may remove the next session, so it must not move the end of a killed one.
TEST_F(ForgetTest, ForgettingTwiceRemovesNoMoreTrials) {
  Fill(1000, kNever, {Bad(1, TrialError::kCompile, "x"), Bad(2, TrialError::kTimeout, "x")});
  WrittenAt(1500);
  Must(RemoveTrials(path_, {0}));
  EXPECT_GT(ModifiedSeconds(path_), 1e9);
  EXPECT_EQ(Found(TrialError::kTimeout, 1500), (Ordinals{0}));
  EXPECT_EQ(Found(TrialError::kTimeout, 1501), Ordinals());
  EXPECT_EQ(Sessions()[0].ended, 0) << "nobody knows how long it took";
  EXPECT_EQ(Sessions()[0].killed_before, 1500);

  Fill(2000, kNever, {Bad(3, TrialError::kTimeout, "x")});
  Fill(3000, kNever, {Bad(4, TrialError::kCompile, "x")});
  Must(RemoveTrials(path_, Found(TrialError::kCompile), {}, 3500));
  EXPECT_EQ(Left(), (Ordinals{2, 3}));
  EXPECT_EQ(Found(TrialError::kTimeout, 3000), (Ordinals{1})) << "the session that followed is gone";
  EXPECT_EQ(Found(TrialError::kTimeout, 3001), Ordinals());
}

TEST_F(ForgetTest, OnlySessionsThatNeedItGetAnEnd) {
  Fill(1000, kNever, {Bad(1, TrialError::kTimeout, "x")});
  Fill(2000, kNever, {Bad(2, TrialError::kTimeout, "x")});
  Fill(2500, 2600, {Bad(3, TrialError::kCompile, "x"), Bad(4, TrialError::kTimeout, "x")}, "f2");
  {
    Session closing = SampleSession("f3");  // killed before it ended, so it does not count
    closing.started = 2700;
    closing.settings = Closing{.trials = 1, .reason = StopReason::kTrials}.ToSettings();
    Must(Open()->BeginSession(closing));
  }
  WrittenAt(3000);
  Must(RemoveTrials(path_, Found(TrialError::kCompile)));
  std::vector<double> ends;
  for (const Session& session : Sessions()) ends.push_back(session.ended - session.killed_before);
  EXPECT_EQ(ends, (std::vector<double>{kNever, -3000, 2600, kNever}));
}

TEST_F(ForgetTest, AKilledSessionKeepsItsBoundWhenOnlyTheNextOneGoes) {
  Fill(1000, kNever, {Bad(1, TrialError::kTimeout, "x")});
  Fill(2000, 2100, {Bad(2, TrialError::kCompile, "x")});
  Fill(3000, 3100, {Bad(3, TrialError::kTimeout, "x")});
  Must(RemoveTrials(path_, Found(TrialError::kCompile)));
  EXPECT_EQ(Found(TrialError::kTimeout, 2000), (Ordinals{0, 1}));
  EXPECT_EQ(Found(TrialError::kTimeout, 2001), (Ordinals{1}));
}

TEST_F(ForgetTest, ACopyOfAVerdictGoesWithTheVerdict) {
  Fill(1000, 1100, {Crash(0, "aa")});
  Fill(2000, 2100, {Crash(1, "aa"), Crash(2, "bb"), Crash(3, "bb")});
  Fill(2500, 2600, {Crash(4, "aa")}, "f2");
  EXPECT_EQ(Found(TrialError::kCrash, 1500), (Ordinals{2, 3, 4})) << "the tuner would copy the verdict on aa again";
  EXPECT_EQ(Found(TrialError::kCrash), (Ordinals{0, 1, 2, 3, 4}));
  // Failures of a device are verdicts on nothing.
  std::vector<Outcome> device = {Crash(5, "cc"), Crash(6, "cc")};
  for (Outcome& outcome : device) outcome.error = TrialError::kDevice;
  Fill(3000, 3100, {device[0]});
  Fill(4000, 4100, {device[1]});
  EXPECT_EQ(Found(TrialError::kDevice, 3500), (Ordinals{6}));
}

// A finalist that failed when it was measured again has samples, and a trial that does not count under the job's limits
// still has their median.
TEST_F(ForgetTest, CopiesOfATimeGoWithIt) {
  const Outcome timed = Good(0, {3e-3, 1e-3, 2e-3}, "aa");
  Fill(1000, 1100, {timed, Copy(1, timed), Good(2, {1e-3}, "bb")});
  Outcome again = Bad(0, TrialError::kWrong, "element 3");
  again.artifact_digest = "aa";
  Must(Open()->Remeasure({{0, again}}));
  EXPECT_EQ(Findings(), std::vector<std::string>());
  EXPECT_EQ(Found(TrialError::kWrong), (Ordinals{0, 1}));
  EXPECT_EQ(Found(TrialError::kWrong, 1100), (Ordinals{0, 1}));
  EXPECT_EQ(Found(TrialError::kWrong, 1101), Ordinals()) << "it counts by the session that tried it first";
  const Status refused = RemoveTrials(path_, {0});
  EXPECT_EQ(refused.kind(), StatusKind::kCorrupt);
  EXPECT_THAT(refused.message(),
              HasSubstr("trial 0: ok, but neither it nor an earlier trial of its artifact has a sample; nothing was"));
  Must(RemoveTrials(path_, {0, 1}));
  EXPECT_EQ(Left(), (Ordinals{2}));
}

TEST_F(ForgetTest, ACopyOfAFailedFinalistHasTheTimeOfOneOfItsRounds) {
  const Outcome timed = Good(0, {3e-3, 1e-3, 2e-3}, "aa");
  Fill(1000, 1100, {timed, Copy(1, timed)});
  Outcome again = Bad(0, TrialError::kWrong, "element 3");
  again.artifact_digest = "aa";
  again.samples = {5e-3};  // before the run that failed
  Must(Open()->Remeasure({{0, again}}));
  EXPECT_EQ(Findings(), std::vector<std::string>());
  Sql("UPDATE trial SET median = 0.005 WHERE ordinal = 1");
  EXPECT_EQ(Findings(), std::vector<std::string>());
  Sql("UPDATE trial SET median = 0.004 WHERE ordinal = 1");
  ASSERT_EQ(Findings().size(), 1u);
  EXPECT_EQ(Findings()[0],
            "trial 1: its median is 0.004, but no round of trial 0, which is the same artifact, gives it");
}

TEST_F(ForgetTest, ClosingRowsOfTheMachineGo) {
  Fill(1000, 1100, {Bad(0, TrialError::kCompile, "x"), Good(1, {1e-3}, "aa")});
  Close(1100, 2);
  Fill(2000, 2100, {Good(1, {1e-3}, "aa")}, "f2");
  Close(2100, 1, "f2");
  Must(RemoveTrials(path_, {0}));
  const std::vector<Session> sessions = Sessions();
  ASSERT_EQ(sessions.size(), 3u);
  EXPECT_FALSE(Closing::FromSettings(sessions[0].settings));
  EXPECT_EQ(sessions[1].fingerprint, "f2");
  ASSERT_TRUE(Closing::FromSettings(sessions[2].settings));
  EXPECT_EQ(sessions[2].fingerprint, "f2");
}

TEST_F(ForgetTest, TheBudgetOfSecondsGetsTheirTimeBack) {
  Outcome cheap = Bad(0, TrialError::kCompile, "x"), costly = Good(1, {1e-3}, "aa");
  cheap.compile_seconds = 1;
  costly.compile_seconds = 1, costly.measure_seconds = 2;
  Fill(1000, 1100, {cheap, costly}, "f1", 20);
  Fill(2000, 2100, {Bad(2, TrialError::kCompile, "x"), Good(3, {1e-3}, "bb")}, "f1", 20);  // without costs
  Fill(3000, 3100, {Bad(4, TrialError::kCompile, "x")}, "f1", 20);
  Must(RemoveTrials(path_, Found(TrialError::kCompile)));
  EXPECT_EQ(Left(), (Ordinals{1, 3}));
  const std::vector<Session> sessions = Sessions();
  ASSERT_EQ(sessions.size(), 2u) << "the third has no trials left";
  EXPECT_EQ(sessions[0].tuning_seconds, 15);
  EXPECT_EQ(sessions[1].tuning_seconds, 10);
}

TEST_F(ForgetTest, OldFormatsAreMigrated) {
  for (const int version : {1, 2}) {
    Must(Remove(path_));
    Fill(1000, 1100, {Good(1, {1e-3}, "aa"), Bad(2, TrialError::kCompile, "x"), Good(3, {2e-3}, "bb")});
    MakeOld(path_, version);
    EXPECT_EQ(Found(TrialError::kCompile), (Ordinals{1}));
    Must(RemoveTrials(path_, {1}));
    EXPECT_EQ(Left(), (Ordinals{1, 3}));
    EXPECT_EQ(OpenToRead()->Trials()->size(), 2u) << "they count";
  }
}

TEST_F(ForgetTest, ARefusalChangesNothing) {
  Fill(1000, 1100, {Good(1, {1e-3}, "aa"), Bad(2, TrialError::kCompile, "x")});
  const auto lost = [] { return Status::Locked("t.db.lock: taken over"); };
  EXPECT_EQ(RemoveTrials(path_, {1}, lost).kind(), StatusKind::kLocked);
  EXPECT_EQ(Left(), (Ordinals{1, 2}));
  Sql("UPDATE trial SET median = 99 WHERE ordinal = 0");
  const Status refused = RemoveTrials(path_, {1});
  EXPECT_EQ(refused.kind(), StatusKind::kCorrupt);
  EXPECT_THAT(refused.message(), HasSubstr("trial 0: its median is 99"));
  EXPECT_EQ(*OpenToRead()->CountTrials(), 2);
  EXPECT_EQ(RemoveTrials(Path("none.db"), {1}).kind(), StatusKind::kNotFound);
  Must(WriteFileAtomic(Path("empty.db"), ""));
  EXPECT_EQ(RemoveTrials(Path("empty.db"), {1}).kind(), StatusKind::kCorrupt);
  EXPECT_EQ(Must(ReadFile(Path("empty.db"))), "");
  EXPECT_EQ(FindForgettable(Path("none.db"), TrialError::kCrash, 0).status().kind(), StatusKind::kNotFound);
  EXPECT_FALSE(Exists(Path("none.db")));
}

}  // namespace
}  // namespace hone::record
