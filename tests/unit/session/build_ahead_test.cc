// If the device is not the host, candidates are measured while others are built; the trials are the same as one step
// after the other.
#include "unit/session/tune_session_fixture.h"

namespace hone::session {
namespace {

// The events of a session, in order: "begin", "built", "measured" with how others could lock the host, "finalists".
using Events = std::vector<std::string>;

// Builds a candidate when one is awaited, and another one at each check.
class StepBuilder : public measure::FakeBuilder {
 public:
  StepBuilder(const measure::FakeWorld& world, Events* events) : FakeBuilder(world), events_(events) {}

  Result<std::vector<measure::BuildResult>> Build(const std::vector<Config>& configs) override {
    EXPECT_TRUE(configs_.empty()) << "the batch before was not given up";
    events_->push_back("finalists");
    return FakeBuilder::Build(configs);
  }
  Status Begin(const std::vector<Config>& configs) override {
    EXPECT_TRUE(configs_.empty()) << "the batch before was not given up";
    events_->push_back("begin");
    configs_ = configs;
    return Status();
  }
  Result<measure::BuildResult> Next() override {
    if (given_ == results_.size()) HONE_RETURN_IF_ERROR(Step());
    return results_[given_++];
  }
  Result<bool> Advance() override {
    if (results_.size() < configs_.size()) HONE_RETURN_IF_ERROR(Step());
    return results_.size() == configs_.size();
  }
  void Abandon() override {
    configs_.clear();
    results_.clear();
    given_ = 0;
  }

 private:
  Status Step() {
    HONE_ASSIGN_OR_RETURN(std::vector<measure::BuildResult> built,
                          FakeBuilder::Build(std::vector<Config>{configs_[results_.size()]}));
    events_->push_back("built");
    results_.push_back(std::move(built[0]));
    return Status();
  }

  Events* events_;
  std::vector<Config> configs_;
  std::vector<measure::BuildResult> results_;
  size_t given_ = 0;
};

// Takes long for its third candidate.
class SlowBuilder : public StepBuilder {
 public:
  SlowBuilder(const measure::FakeWorld& world, Events* events, std::function<void()> look)
      : StepBuilder(world, events), look_(std::move(look)) {}
  Result<bool> Ready(double) override {
    slow_ = ++asked_ == 2;  // it is not asked for the first one
    return !slow_;
  }
  Result<measure::BuildResult> Next() override {
    if (slow_) look_();
    return StepBuilder::Next();
  }

 private:
  std::function<void()> look_;
  int asked_ = 0;
  bool slow_ = false;
};

class BuildAheadTest : public TwoLocksTest {
 protected:
  std::unique_ptr<measure::Builder> MakeBuilder() override {
    if (!slow_) return std::make_unique<StepBuilder>(world_, &events_);
    return std::make_unique<SlowBuilder>(
        world_, &events_, [this] { events_.push_back("waited, host " + Free("host") + ", gpu " + Free("gpu")); });
  }

  // A world whose device is separate from its host.
  SessionWorld WorldApart(MemoryStore* store, int64_t interrupt_after = -1) {
    events_.clear();
    turns_.emplace(Lock("host"), Lock("gpu"));
    SessionWorld world = World(store, interrupt_after);
    world.turns = &*turns_;
    return world;
  }
  // As Run, on such a device.
  Result<SessionResult> RunApart(MemoryStore* store, int64_t interrupt_after = -1) {
    hooks_.before = [this] {
      EXPECT_EQ(Free("gpu"), "nothing");
      events_.push_back("measured, host " + Free("host"));
    };
    auto result = RunIn(WorldApart(store, interrupt_after));
    EXPECT_EQ(Free("host"), "alone") << "nothing is held when it is over";
    EXPECT_EQ(Free("gpu"), "alone");
    return result;
  }

  // Four candidates that work, in one batch.
  void FourCandidates() {
    world_.fail_share = 0;
    options_.default_config.reset();
    options_.batch = 4;
    options_.budget.trials = 4;
    options_.finalists = 0;
  }

  std::optional<Turns> turns_;
  Events events_;
  bool slow_ = false;
};

TEST_F(BuildAheadTest, ACandidateIsMeasuredWhileTheNextAreBuilt) {
  FourCandidates();
  MemoryStore store;
  Must(RunApart(&store));
  EXPECT_EQ(events_, (Events{"begin", "built", "built", "measured, host shared", "built", "measured, host shared",
                             "built", "measured, host alone", "measured, host alone"}));
}

// A compiler may hang for a minute: others can use the device meanwhile, and compilers share the host.
TEST_F(BuildAheadTest, WhoWaitsForACompilerGivesTheDeviceBack) {
  FourCandidates();
  MemoryStore store;
  slow_ = true;
  Must(RunApart(&store));
  EXPECT_EQ(events_,
            (Events{"begin", "built", "built", "measured, host shared", "built", "measured, host shared",
                    "waited, host shared, gpu alone", "built", "measured, host alone", "measured, host alone"}));
}

TEST_F(BuildAheadTest, TheTrialsAreThoseOfOneStepAfterTheOther) {
  MemoryStore serial, apart;
  Must(Run(&serial));
  const auto result = Must(RunApart(&apart));
  EXPECT_EQ(result.reason, StopReason::kTrials);
  EXPECT_EQ(result.new_trials, 50);
  ExpectSameTrials(apart, serial, "apart");
  ExpectResumes(apart, 1, [this](MemoryStore* store) { return RunApart(store); });
}

TEST_F(BuildAheadTest, AnInterruptGivesUpWhatIsBuiltAndTheSameRunGoesOn) {
  MemoryStore whole;
  Must(RunApart(&whole));
  for (const int64_t after : {0, 1, 7, 8, 30}) {
    MemoryStore store;
    EXPECT_TRUE(Must(RunApart(&store, after)).interrupted);
    Must(RunApart(&store));
    ExpectSameTrials(store, whole, "interrupted after " + std::to_string(after));
  }
}

TEST_F(BuildAheadTest, StoppingEarlyGivesUpTheRestOfTheBatch) {
  options_.budget.trials = 90;
  options_.budget.early_stop = 13;  // as in EarlyStopEndsAtTheSameTrialWhereverTheRunWasCut
  MemoryStore serial, apart;
  Must(Run(&serial));
  const auto result = Must(RunApart(&apart));
  EXPECT_EQ(result.reason, StopReason::kEarlyStop);
  EXPECT_GT(result.finalists, 0);
  EXPECT_EQ(events_.back(), "finalists");
  ExpectSameTrials(apart, serial, "apart");
}

// Others may hold the device for long: everything is built meanwhile, and then the host is released.
TEST_F(BuildAheadTest, WhoWaitsForTheDeviceGoesOnBuilding) {
  FourCandidates();
  MachineLock other = Lock("gpu");
  ASSERT_TRUE(other.LockExclusive(0).ok());
  MemoryStore store;
  hooks_.before = [this] { events_.push_back("measured"); };
  SessionWorld world = WorldApart(&store);
  world.on_progress = [&](const History& history, double) -> Status {
    if (history.count() == 0 && Free("host") == "alone") other.Unlock();
    return Status();
  };
  Must(RunIn(world));
  EXPECT_EQ(events_,
            (Events{"begin", "built", "built", "built", "built", "measured", "measured", "measured", "measured"}));
}

}  // namespace
}  // namespace hone::session
