// What the tuning loop makes of devices that fail, fill up or mislead.
#include "unit/session/tune_session_fixture.h"

namespace hone::session {
namespace {

// A finalist of which nothing comes back this time.
class FlakyMeasurer : public measure::FakeMeasurer {
 public:
  using FakeMeasurer::FakeMeasurer;
  Result<std::vector<measure::Series>> MeasureInterleaved(const std::vector<measure::BuiltKernel>& kernels,
                                                          int rounds) override {
    auto samples = FakeMeasurer::MeasureInterleaved(kernels, rounds);
    samples->back().seconds.clear();
    return samples;
  }
};

// A device whose memory runs out after `good` candidates, and which has worked half a second for each by its own clock.
class FullMeasurer : public measure::FakeMeasurer {
 public:
  FullMeasurer(const measure::FakeWorld& world, FakeClock* clock, int64_t good)
      : FakeMeasurer(world), clock_(clock), good_(good) {}
  Result<Outcome> Measure(const measure::BuiltKernel& kernel, double incumbent) override {
    clock_->Advance(1);
    auto outcome = FakeMeasurer::Measure(kernel, incumbent);
    if (++asked_ <= good_) return outcome;
    outcome->state = TrialState::kFailed;
    outcome->error = TrialError::kDevice;
    outcome->error_text = "out of memory: 256 bytes asked for";
    outcome->samples.clear();
    return outcome;
  }
  std::optional<double> busy_seconds() const override { return 0.5 * static_cast<double>(asked_); }

 private:
  FakeClock* clock_;
  int64_t good_, asked_ = 0;
};

class FailingDeviceTest : public TuneSessionTest {
 protected:
  FailingDeviceTest() {
    world_.fail_share = 0;
    options_.default_config.reset();
    options_.finalists = 0;
  }

  // On a device that fails all candidates behind the first `good`.
  Result<SessionResult> RunWith(MemoryStore* store, int64_t good) {
    return RunIn(World(store, [=, this] { return std::make_unique<FullMeasurer>(world_, &clock_, good); }));
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

// Else a device that is away for a while would close the task for good.
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

// A candidate that this machine can never try stops one run; the next ones leave it out and go on.
TEST_F(FailingDeviceTest, OneThatCanNeverBeTriedDoesNotKeepTheTaskFromItsEnd) {
  class Choosy : public measure::FakeMeasurer {
   public:
    using FakeMeasurer::FakeMeasurer;
    Result<Outcome> Measure(const measure::BuiltKernel& kernel, double incumbent) override {
      auto outcome = FakeMeasurer::Measure(kernel, incumbent);
      if (kernel.config.index % 7 != 3) return outcome;
      outcome->state = TrialState::kFailed;
      outcome->error = TrialError::kDevice;
      outcome->error_text = "killed by SIGKILL";
      return outcome;
    }
  };
  for (const char* tuner : {"random", "ga", "annealing", "auto"}) {
    options_.tuner = tuner;
    MemoryStore store;
    int runs = 1;
    while (!RunIn(WorldWith<Choosy>(&store)).ok()) ASSERT_LE(++runs, 20) << tuner;
    EXPECT_GT(runs, 1) << tuner;
    EXPECT_EQ(TrialsOf(store).size(), 50U) << tuner;
    for (const record::Trial& trial : TrialsOf(store)) EXPECT_EQ(trial.outcome.error, TrialError::kNone) << tuner;
  }
  // Once all others are tried the task stays open: the next run may try these.
  options_.tuner = "random";
  options_.budget.trials = 1000;
  MemoryStore store;
  size_t trials = 0;
  do {
    trials = TrialsOf(store).size();
    ASSERT_FALSE(RunIn(WorldWith<Choosy>(&store)).ok());
  } while (TrialsOf(store).size() > trials);
  History again("here");
  ASSERT_TRUE(again.Load(store).ok());
  EXPECT_FALSE(again.Closed(0));
}

// The finalists' first times stand only for a fault of theirs: here the next run measures them.
TEST_F(FailingDeviceTest, FinalistsThatCannotBeCompiledLeaveTheTaskOpen) {
  class Full : public measure::FakeBuilder {
   public:
    using FakeBuilder::FakeBuilder;
    Result<std::vector<measure::BuildResult>> Build(const std::vector<Config>& configs) override {
      auto built = FakeBuilder::Build(configs);
      if (configs.size() == 8 || configs.size() == 2) return built;  // a batch, not a heat
      built->back() = {};
      built->back().error = TrialError::kDevice;
      built->back().error_text = "no room";
      return built;
    }
  };
  options_.finalists = 3;
  options_.budget.trials = 50;
  MemoryStore store;
  const auto result = RunIn(World(
      &store, [this] { return std::make_unique<measure::FakeMeasurer>(world_); },
      [this] { return std::make_unique<Full>(world_); }));
  EXPECT_EQ(result.status().message(),
            "a finalist could not be compiled, and this machine is to blame: no room; the same command goes on where "
            "this one stops");
  EXPECT_EQ(TrialsOf(store).size(), 50U);
  EXPECT_FALSE(history_->Closed(3));
}

TEST_F(TuneSessionTest, AFlakyFinalistDoesNotKeepTheJobFromClosing) {
  MemoryStore store;
  Must(RunIn(WorldWith<FlakyMeasurer>(&store)));
  History again("here");
  ASSERT_TRUE(again.Load(store).ok());
  EXPECT_TRUE(again.Closed(options_.finalists));
}

// A device on which the tuning-time winner was a lucky measurement: interleaved, another one is faster.
class LuckyMeasurer : public measure::FakeMeasurer {
 public:
  using FakeMeasurer::FakeMeasurer;
  Result<Outcome> Measure(const measure::BuiltKernel& kernel, double incumbent) override {
    auto outcome = FakeMeasurer::Measure(kernel, incumbent);
    if (outcome.ok() && kernel.config.index == 37 && outcome->state == TrialState::kOk) {
      outcome->median = 1e-6;
      outcome->samples.assign(5, 1e-6);
    }
    return outcome;
  }
};

TEST_F(TuneSessionTest, TheWinnerIsChosenFromTheInterleavedTimes) {
  world_.fail_share = 0;
  world_.prune_factor = 0;
  MemoryStore store;
  Must(RunIn(WorldWith<LuckyMeasurer>(&store)));
  double fastest = 1;
  for (const Outcome& o : history_->outcomes()) fastest = std::min(fastest, world_.Seconds(o.config));
  ASSERT_NE(world_.Seconds(space_.At(37)), fastest);
  EXPECT_EQ(history_->best_seconds(), fastest);
}

}  // namespace
}  // namespace hone::session
