// The tuning loop on devices that fail, fill up or mislead.
#include "unit/session/tune_session_fixture.h"

namespace hone::session {
namespace {

class FailingDeviceTest : public TuneSessionTest {
 protected:
  FailingDeviceTest() {
    world_.fail_share = 0;
    options_.default_config.reset();
    options_.finalists = 0;
  }

  // On a device that runs out of memory after `good` candidates and was busy half a second for each by its own clock.
  Result<SessionResult> RunWith(MemoryStore* store, int64_t good) {
    int64_t asked = 0;
    hooks_.after = [&, good](const Config&, Outcome* outcome) {
      clock_.Advance(1);
      if (++asked > good) FailDevice(outcome, "out of memory: 256 bytes asked for");
    };
    hooks_.busy_seconds = [&] { return 0.5 * static_cast<double>(asked); };
    return Run(store);
  }
};

TEST_F(FailingDeviceTest, ADeviceThatFailsOnAndOnStopsTheRunWhichEndsAsUndisturbed) {
  MemoryStore store, undisturbed;
  const auto stopped = RunWith(&store, 13);
  EXPECT_EQ(stopped.status().kind(), StatusKind::kIo);
  EXPECT_EQ(
      stopped.status().message(),
      "a candidate could not be tried, and this machine is to blame: out of memory: 256 bytes asked for; the same "
      "command goes on where this one stops");
  EXPECT_EQ(TrialsOf(store).size(), 13U) << "nothing of what failed";
  const auto resumed = Must(RunWith(&store, 1000));
  EXPECT_EQ(resumed.reason, StopReason::kTrials);
  EXPECT_EQ(resumed.new_trials, 37);
  EXPECT_DOUBLE_EQ(resumed.measuring_share, 0.5) << "by the device's clock, not by the wall's";
  ASSERT_TRUE(RunWith(&undisturbed, 1000).ok());
  ExpectSameTrials(store, undisturbed, "after a device that was away");
}

// This candidate leaves the output right, so that only the check after it can tell.
TEST_F(FailingDeviceTest, ACandidateThatCorruptsTheMeasurerIsFoundAndTheOthersAreMeasuredAnew) {
  MemoryStore store, undisturbed;
  ASSERT_TRUE(RunWith(&undisturbed, 1000).ok());
  const auto expected = TrialsOf(undisturbed);
  const Config bad = expected[20].outcome.config;
  bool corrupted = false;
  hooks_.after = [&](const Config& config, Outcome* outcome) {
    clock_.Advance(0.1);
    if (corrupted) outcome->median *= 100;  // it spoils what comes behind it
    corrupted |= config == bad;
  };
  hooks_.sound = [&] { return !std::exchange(corrupted, false); };  // it is replaced then
  const SessionResult result = Must(Run(&store));
  EXPECT_EQ(result.reason, StopReason::kTrials);
  const auto trials = TrialsOf(store);
  ASSERT_EQ(trials.size(), expected.size());
  for (size_t i = 0; i < trials.size(); ++i) {
    const Outcome& outcome = trials[i].outcome;
    EXPECT_EQ(outcome.config.Text(), expected[i].outcome.config.Text()) << i;
    EXPECT_EQ(outcome.median, i == 20 ? 0 : expected[i].outcome.median) << i;
  }
  EXPECT_EQ(trials[20].outcome.error, TrialError::kCrash);
  EXPECT_THAT(trials[20].outcome.error_text, StartsWith("corrupted the measuring child"));
  EXPECT_EQ(counts_.devices, 2) << "opened by each run";
  EXPECT_EQ(Must(Run(&store)).new_trials, 0);
}

// Otherwise a device that is away for a while would close the task for good.
TEST_F(FailingDeviceTest, WhatFailsAtFirstIsTriedByTheNextRun) {
  MemoryStore store;
  options_.default_config = space_.At(36);
  EXPECT_THAT(RunWith(&store, 0).status().message(), StartsWith("a candidate could not"))
      << "no other one goes before the default";
  options_.default_config.reset();
  EXPECT_THAT(RunWith(&store, 0).status().message(), StartsWith("32 candidates could not"));
  EXPECT_TRUE(TrialsOf(store).empty());
  options_.default_config = space_.At(36);
  ASSERT_TRUE(RunWith(&store, 1000).ok());
  EXPECT_EQ(TrialsOf(store).front().outcome.config.index, 36U) << "the default first, as ever";
}

// A candidate that this machine can never try stops one run; later runs skip it and continue.
TEST_F(FailingDeviceTest, OneThatCanNeverBeTriedDoesNotKeepTheTaskFromItsEnd) {
  hooks_.after = [](const Config& config, Outcome* outcome) {
    if (config.index % 7 == 3) FailDevice(outcome, "killed by SIGKILL");
  };
  for (const char* tuner : {"random", "ga", "annealing", "auto"}) {
    options_.tuner = tuner;
    MemoryStore store;
    int runs = 1;
    while (!Run(&store).ok()) ASSERT_LE(++runs, 20) << tuner;
    EXPECT_GT(runs, 1) << tuner;
    EXPECT_EQ(TrialsOf(store).size(), 50U) << tuner;
    for (const record::Trial& trial : TrialsOf(store)) EXPECT_EQ(trial.outcome.error, TrialError::kNone) << tuner;
  }
  // After all others were tried, the task stays open: the next run may try these.
  options_.tuner = "random";
  options_.budget.trials = 1000;
  MemoryStore store;
  size_t trials = 0;
  do {
    trials = TrialsOf(store).size();
    ASSERT_FALSE(Run(&store).ok());
  } while (TrialsOf(store).size() > trials);
  History again("here");
  ASSERT_TRUE(again.Load(store).ok());
  EXPECT_FALSE(again.Closed(0));
}

// A finalist keeps its first time only if the failure is its own: here the next run measures them.
TEST_F(FailingDeviceTest, FinalistsThatCannotBeCompiledLeaveTheTaskOpen) {
  hooks_.built = [](std::vector<measure::BuildResult>* built) {
    if (built->size() == 8 || built->size() == 2) return;  // a batch, not a heat
    built->back() = {};
    built->back().error = TrialError::kDevice;
    built->back().error_text = "no room";
  };
  options_.finalists = 3;
  options_.budget.trials = 50;
  MemoryStore store;
  const auto result = Run(&store);
  EXPECT_EQ(result.status().message(),
            "a finalist could not be compiled, and this machine is to blame: no room; the same command goes on where "
            "this one stops");
  EXPECT_EQ(TrialsOf(store).size(), 50U);
  EXPECT_FALSE(history_->Closed(3));
}

TEST_F(TuneSessionTest, AFinalistOfWhichNothingComesBackDoesNotKeepTheJobFromClosing) {
  hooks_.finalists = [](std::vector<measure::Series>* series) { series->back().seconds.clear(); };
  MemoryStore store;
  Must(Run(&store));
  History again("here");
  ASSERT_TRUE(again.Load(store).ok());
  EXPECT_TRUE(again.Closed(options_.finalists));
}

// The fastest candidate during tuning was a lucky measurement: interleaved, another one is faster.
TEST_F(TuneSessionTest, TheWinnerIsChosenFromTheInterleavedTimes) {
  world_.fail_share = 0;
  world_.prune_factor = 0;
  hooks_.after = [](const Config& config, Outcome* outcome) {
    if (config.index != 37 || outcome->state != TrialState::kOk) return;
    outcome->median = 1e-6;
    outcome->samples.assign(5, 1e-6);
  };
  MemoryStore store;
  Must(Run(&store));
  double fastest = 1;
  for (const Outcome& o : history_->outcomes()) fastest = std::min(fastest, world_.Seconds(o.config));
  ASSERT_NE(world_.Seconds(space_.At(37)), fastest);
  EXPECT_EQ(history_->best_seconds(), fastest);
}

}  // namespace
}  // namespace hone::session
