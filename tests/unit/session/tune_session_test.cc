// The tuning loop from its first trial to its last: resuming, budgets, failures, and what is stored.
#include "unit/session/tune_session_fixture.h"

namespace hone::session {
namespace {

TEST_F(TuneSessionTest, TrialZeroIsTheDefaultAndNothingIsTriedTwice) {
  MemoryStore store;
  auto result = Must(Run(&store));
  EXPECT_EQ(result.reason, StopReason::kTrials);
  EXPECT_EQ(result.new_trials, 50);
  const auto indices = Indices(store);
  ASSERT_EQ(indices.size(), 50u);
  EXPECT_EQ(indices[0], 37u);
  EXPECT_EQ(TrialsOf(store).at(0).outcome.proposer, "default");
  EXPECT_EQ(TrialsOf(store).at(1).outcome.proposer, "random");
  EXPECT_EQ(std::set<uint64_t>(indices.begin(), indices.end()).size(), 50u);
}

TEST_F(TuneSessionTest, ADefaultThatTheRecordsLostIsTriedAgain) {
  MemoryStore whole, damaged;
  Must(Run(&whole));
  ASSERT_TRUE(damaged.BeginSession(whole.Sessions()->front()).ok());
  for (const record::Trial& trial : TrialsOf(whole)) {
    if (trial.ordinal == 0) continue;
    ASSERT_TRUE(damaged.Append(1, {trial.outcome}, 0).ok());
  }
  ASSERT_TRUE(Run(&damaged).ok());
  const auto trials = TrialsOf(damaged);
  ASSERT_EQ(trials.size(), 50u);
  EXPECT_EQ(trials.back().outcome.config.index, 37u);
  EXPECT_EQ(trials.back().outcome.proposer, "default");
}

TEST_F(TuneSessionTest, TheBestIsTheFastestOfThoseThatWork) {
  MemoryStore store;
  Must(Run(&store));
  double fastest = 1;
  for (const uint64_t index : Indices(store)) {
    const Config config = space_.At(index);
    if (world_.Fails(config) == TrialError::kNone) fastest = std::min(fastest, world_.Seconds(config));
  }
  EXPECT_EQ(history_->best_seconds(), fastest);
}

TEST_F(TuneSessionTest, ResumesAfterAKillAtEveryTrialAsIfNothingHadHappened) {
  MemoryStore whole;
  Must(Run(&whole));
  ExpectResumes(whole);
}

TEST_F(TuneSessionTest, AnInterruptKeepsWhatWasMeasuredAndTheSameRunGoesOn) {
  MemoryStore whole;
  Must(Run(&whole));
  for (const int64_t after : {0, 1, 7, 8, 9, 30}) {
    MemoryStore store;
    auto first = Must(Run(&store, after));
    EXPECT_TRUE(first.interrupted);
    EXPECT_EQ(first.reason, StopReason::kNone);
    EXPECT_GE(*store.CountTrials(), after) << "failed builds are trials too";
    const int64_t kept = *store.CountTrials();
    auto second = Must(Run(&store));
    EXPECT_FALSE(second.interrupted);
    EXPECT_EQ(second.new_trials, 50 - kept);
    ExpectSameTrials(store, whole, "interrupted after " + std::to_string(after));
  }
}

TEST_F(TuneSessionTest, DoublingTheBudgetRunsTheMissingTrialsAndHalvingItNone) {
  MemoryStore store, whole;
  options_.budget.trials = 30;
  Must(Run(&store));
  options_.budget.trials = 60;
  EXPECT_EQ(Must(Run(&store)).new_trials, 30);
  Must(Run(&whole));
  ExpectSameTrials(store, whole, "doubled");
  options_.budget.trials = 15;
  auto halved = Must(Run(&store));
  EXPECT_EQ(halved.new_trials, 0);
  EXPECT_EQ(halved.reason, StopReason::kTrials);
  EXPECT_EQ(counts_.devices, 0);
}

TEST_F(TuneSessionTest, AFinishedJobOpensNoDevice) {
  MemoryStore store;
  Must(Run(&store));
  const int remeasured = store.remeasured;
  EXPECT_GE(remeasured, 4);
  EXPECT_LE(store.heats, 3) << "a heat of finalists is one transaction";
  EXPECT_EQ(Must(Run(&store)).new_trials, 0);
  EXPECT_EQ(counts_.devices, 0);
  EXPECT_EQ(store.remeasured, remeasured);
}

TEST_F(TuneSessionTest, AKillBetweenTheLastTrialAndTheFinalistsMeasuresThemAfterAll) {
  MemoryStore store;
  Must(Run(&store));
  store.Truncate(50);
  const int before = store.remeasured;
  EXPECT_EQ(Must(Run(&store)).new_trials, 0);
  EXPECT_GT(store.remeasured, before);
}

TEST_F(TuneSessionTest, EarlyStopEndsAtTheSameTrialWhereverTheRunWasCut) {
  options_.budget.trials = 90;
  options_.budget.early_stop = 13;
  MemoryStore whole;
  ASSERT_EQ(Must(Run(&whole)).reason, StopReason::kEarlyStop) << "choose another seed for this test";
  const int64_t stopped = *whole.CountTrials();
  // Exactly 13 trials after the last improvement.
  int64_t last_better = 0;
  double best = 1;
  for (const record::Trial& trial : TrialsOf(whole)) {
    if (trial.outcome.state != TrialState::kOk || trial.outcome.median >= best) continue;
    best = trial.outcome.median;
    last_better = trial.ordinal;
  }
  EXPECT_EQ(stopped, last_better + 1 + 13);
  ExpectResumes(whole, 3);
  auto again = Must(Run(&whole));
  EXPECT_EQ(again.new_trials, 0);
  EXPECT_EQ(again.reason, StopReason::kEarlyStop);
}

TEST_F(TuneSessionTest, SecondsOfEarlierSessionsCount) {
  options_.budget.seconds = 100;
  MemoryStore store;
  const auto id = store.BeginSession({.started = 1000, .tuning_seconds = 100, .fingerprint = "here"});
  ASSERT_TRUE(store.EndSession(*id, 900).ok()) << "the clock on the wall was set back; it does not matter";
  const auto result = Must(Run(&store));
  EXPECT_EQ(result.reason, StopReason::kSeconds);
  EXPECT_EQ(result.new_trials, 0);
}

// A measurement takes a second, and those of finalists ten.
TEST_F(TuneSessionTest, SecondsRunOutWithinASessionAndThoseOfAKilledOneCount) {
  world_.fail_share = 0;
  options_.default_config.reset();  // it is illegal, and takes no time
  hooks_.before = [this] { clock_.Advance(1); };
  hooks_.finalists = [this](std::vector<measure::Series>*) { clock_.Advance(10); };
  const auto run = [&](MemoryStore* store, double seconds) {
    options_.budget.seconds = seconds;
    return Run(store);
  };
  MemoryStore store;
  auto first = Must(run(&store, 11));
  EXPECT_EQ(first.reason, StopReason::kSeconds);
  EXPECT_EQ(first.new_trials, 11);
  EXPECT_GT(first.finalists, 0) << "after the budget, and not part of it";
  EXPECT_EQ(store.Sessions()->front().tuning_seconds, 11);
  EXPECT_EQ(Must(run(&store, 11)).new_trials, 0);
  EXPECT_EQ(Must(run(&store, 14)).new_trials, 3) << "the finalists cost nothing of it";
  store.Truncate(11);  // killed: no session has ended
  ASSERT_EQ(store.Sessions()->size(), 1u);
  auto resumed = Must(run(&store, 20));
  EXPECT_EQ(resumed.new_trials, 9);
  EXPECT_EQ(resumed.reason, StopReason::kSeconds);
}

TEST_F(TuneSessionTest, NothingIsStoredOnceTheJobIsSomebodyElses) {
  for (const int lost_after : {0, 1, 3, 7}) {  // checks: batches, finalists, closing
    MemoryStore store;
    int checks = 0;
    SessionWorld world = World(&store);
    world.check_owner = [&]() -> Status {
      return checks++ < lost_after ? Status() : Status::Locked("t.db.lock: taken over");
    };
    const auto result = RunIn(world);
    EXPECT_EQ(result.status().message(), "t.db.lock: taken over");
    EXPECT_LE(*store.CountTrials(), lost_after * options_.batch);
    if (lost_after == 7) {
      EXPECT_EQ(*store.CountTrials(), 50) << "the finalists' heat was refused";
    }
    EXPECT_EQ(store.heats, 0);
    const std::vector<record::Session> sessions = *store.Sessions();
    for (const record::Session& session : sessions) EXPECT_EQ(session.ended, 0);
  }
}

TEST_F(TuneSessionTest, ASmallSpaceIsExhausted) {
  search::TaskSpace small = MakeSpace(3, 2);  // sums 0 to 3: all six are legal
  options_.space = &small;
  options_.default_config = small.At(0);
  MemoryStore store;
  EXPECT_EQ(Must(Run(&store)).reason, StopReason::kExhausted);
  EXPECT_EQ(*store.CountTrials(), 6);
  EXPECT_EQ(Must(Run(&store)).reason, StopReason::kExhausted);
  EXPECT_EQ(counts_.devices, 0);
}

TEST_F(TuneSessionTest, OnePointAndNoPoint) {
  search::TaskSpace one;
  one.Add(search::Space("one"));
  options_.space = &one;
  options_.default_config = one.At(0);
  world_.fail_share = 0;
  MemoryStore store;
  EXPECT_EQ(Must(Run(&store)).reason, StopReason::kExhausted);
  EXPECT_EQ(*store.CountTrials(), 1);
  search::TaskSpace none;
  options_.space = &none;
  options_.default_config.reset();
  MemoryStore empty;
  EXPECT_EQ(Must(Run(&empty)).reason, StopReason::kExhausted);
  EXPECT_EQ(*empty.CountTrials(), 0);
}

TEST_F(TuneSessionTest, WhenEverythingFailsEveryFailureIsRecordedAndThereIsNoBest) {
  world_.fail_share = 1;
  MemoryStore store;
  Must(Run(&store));
  EXPECT_EQ(*store.CountTrials(), 50);
  for (const record::Trial& trial : TrialsOf(store)) {
    EXPECT_EQ(trial.outcome.state, TrialState::kFailed);
    EXPECT_NE(trial.outcome.error, TrialError::kNone);
    EXPECT_FALSE(trial.outcome.error_text.empty());
  }
  EXPECT_EQ(store.remeasured, 0);
}

// As in AutoTVM's tuners.
TEST_F(TuneSessionTest, EarlyStopEndsATaskOfWhichNothingWorks) {
  world_.fail_share = 1;
  options_.budget.early_stop = 20;
  MemoryStore store;
  EXPECT_EQ(Must(Run(&store)).reason, StopReason::kEarlyStop);
  EXPECT_EQ(*store.CountTrials(), 20);
  const auto closing = Closing::FromSettings(store.Sessions()->back().settings);
  ASSERT_TRUE(closing.has_value());
  EXPECT_EQ(closing->ReasonText(), "nothing better in the last 20 trials");
  EXPECT_EQ(Must(Run(&store)).new_trials, 0);
  EXPECT_EQ(counts_.devices, 0);
}

TEST_F(TuneSessionTest, AnIllegalDefaultIsRecordedWithItsRuleAndNotBuilt) {
  options_.default_config = space_.At(4);  // a = 4, b = 0
  ASSERT_TRUE(space_.Reject(4).has_value());
  MemoryStore store;
  Must(Run(&store));
  const Outcome first = TrialsOf(store).at(0).outcome;
  EXPECT_EQ(first.config.index, 4u);
  EXPECT_EQ(first.error, TrialError::kInvalid);
  EXPECT_THAT(first.error_text, HasSubstr("odd_sum"));
}

TEST_F(TuneSessionTest, IdenticalArtifactsAreTimedOnce) {
  MakeTwins();
  world_.fail_share = 0;
  MemoryStore store;
  Must(Run(&store));
  EXPECT_EQ(*store.CountTrials(), 50);
  EXPECT_LE(counts_.measured, 12) << "there are twelve values of a";
  std::map<std::string, int> timed;
  for (const record::Trial& trial : TrialsOf(store)) timed[trial.outcome.artifact_digest] += !trial.rounds.empty();
  timed.erase("");  // never built
  for (const auto& [digest, count] : timed) EXPECT_EQ(count, 1) << digest << ": samples are of one trial only";
  std::map<std::string, double> medians;
  for (const record::Trial& trial : TrialsOf(store)) {
    const auto [found, fresh] = medians.emplace(trial.outcome.artifact_digest, trial.outcome.median);
    EXPECT_EQ(found->second, trial.outcome.median) << "trial " << trial.ordinal;
  }
}

TEST_F(TuneSessionTest, TrialsOfAnotherMachineAreNeitherHistoryNorBudget) {
  MemoryStore store;
  options_.session.fingerprint = "there";
  Must(Run(&store));
  options_.session.fingerprint = "here";
  EXPECT_EQ(Must(Run(&store)).new_trials, 50);
  EXPECT_EQ(*store.CountTrials(), 100);
}

TEST_F(TuneSessionTest, AFailingStoreEndsTheRunWithItsMessage) {
  MemoryStore store;
  store.fail_after = 2;
  EXPECT_EQ(Run(&store).status().kind(), StatusKind::kIo);
  EXPECT_EQ(*store.CountTrials(), 16) << "two batches, the default in the first";
}

TEST(FakeBuilder, InventsStepsWhereNoCandidateCanBeMade) {
  const Config config = MakeSpace(2, 2).At(1);
  const measure::FakeWorld world{.fail_share = 0};
  const auto steps = [&](measure::FakeBuilder builder) { return (*builder.Build({config}))[0].kernel.steps; };
  EXPECT_EQ(steps(measure::FakeBuilder(world)), "pragma out n fake 1\n");
  EXPECT_EQ(steps(measure::FakeBuilder(world, [](const Config&) { return Status::Invalid("no"); })),
            "pragma out n fake 1\n");
  EXPECT_EQ(steps(measure::FakeBuilder(world,
                                       [](const Config&) {
                                         return Candidate{{}, {Inline("a")}};
                                       })),
            "inline a\n");
}

}  // namespace
}  // namespace hone::session
