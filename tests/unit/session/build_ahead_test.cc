// Where the device is not the host, candidates are measured while others are built; and the trials are what they would
// be one step after the other.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "session/machine.h"
#include "unit/session/tune_session_fixture.h"

namespace hone::session {
namespace {

// What happened in a session, in order: "begin", "built", "measured" with what others could have of the host,
// "finalists".
using Events = std::vector<std::string>;

// Builds a candidate where one is waited for, and another one at each look.
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
    slow_ = ++asked_ == 2;  // of the first one it is not asked
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

class LookingMeasurer : public CountingMeasurer {
 public:
  LookingMeasurer(const measure::FakeWorld& world, Counts* counts, int64_t interrupt_after, std::function<void()> look)
      : CountingMeasurer(world, counts, interrupt_after), look_(std::move(look)) {}
  Result<Outcome> Measure(const measure::BuiltKernel& kernel, double incumbent) override {
    look_();
    return CountingMeasurer::Measure(kernel, incumbent);
  }

 private:
  std::function<void()> look_;
};

class BuildAheadTest : public TuneSessionTest {
 protected:
  void SetUp() override {
    auto dir = TempDir::Create();
    ASSERT_TRUE(dir.ok()) << dir.status().message();
    dir_ = std::make_unique<TempDir>(std::move(*dir));
  }

  MachineLock Lock(const std::string& name) {
    auto lock = MachineLock::Open(dir_->Join(name));
    EXPECT_TRUE(lock.ok()) << lock.status().message();
    return std::move(*lock);
  }

  // What others can have of it: "alone", "shared" or "nothing".
  std::string Free(const std::string& name) {
    MachineLock other = Lock(name);
    if (other.LockExclusive(0).ok()) return "alone";
    return other.LockShared(0).ok() ? "shared" : "nothing";
  }

  // As Run, on a device that is apart from its host.
  Result<SessionResult> RunApart(MemoryStore* store, int64_t interrupt_after = -1) {
    counts_ = {};
    events_.clear();
    Turns turns(Lock("host"), Lock("gpu"));
    SessionWorld world;
    world.store = store;
    world.clock = &clock_;
    world.turns = &turns;
    world.open_device = [&]() -> Result<Device> {
      Device device;
      device.builder = std::make_unique<StepBuilder>(world_, &events_);
      if (slow_) {
        device.builder = std::make_unique<SlowBuilder>(
            world_, &events_, [this] { events_.push_back("waited, host " + Free("host") + ", gpu " + Free("gpu")); });
      }
      device.measurer = std::make_unique<LookingMeasurer>(world_, &counts_, interrupt_after, [this] {
        EXPECT_EQ(Free("gpu"), "nothing");
        events_.push_back("measured, host " + Free("host"));
      });
      return device;
    };
    History history("here");
    const Status loaded = history.Load(*store);
    if (!loaded.ok()) return loaded;
    auto result = RunSession(options_, world, &history);
    EXPECT_EQ(Free("host"), "alone") << "nothing is held when it is over";
    EXPECT_EQ(Free("gpu"), "alone");
    return result;
  }

  std::unique_ptr<TempDir> dir_;
  Events events_;
  bool slow_ = false;
};

TEST_F(BuildAheadTest, ACandidateIsMeasuredWhileTheNextAreBuilt) {
  world_.fail_share = 0;
  options_.default_config.reset();
  options_.batch = 4;
  options_.budget.trials = 4;
  options_.finalists = 0;
  MemoryStore store;
  const auto result = RunApart(&store);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(events_, (Events{"begin", "built", "built", "measured, host shared", "built", "measured, host shared",
                             "built", "measured, host alone", "measured, host alone"}));
}

// A compiler may hang for a minute: others have the device meanwhile, and the host is shared with those who compile.
TEST_F(BuildAheadTest, WhoWaitsForACompilerGivesTheDeviceBack) {
  world_.fail_share = 0;
  options_.default_config.reset();
  options_.batch = 4;
  options_.budget.trials = 4;
  options_.finalists = 0;
  MemoryStore store;
  slow_ = true;
  const auto result = RunApart(&store);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(events_,
            (Events{"begin", "built", "built", "measured, host shared", "built", "measured, host shared",
                    "waited, host shared, gpu alone", "built", "measured, host alone", "measured, host alone"}));
}

TEST_F(BuildAheadTest, TheTrialsAreThoseOfOneStepAfterTheOther) {
  MemoryStore serial, apart;
  ASSERT_TRUE(Run(&serial, options_).ok());
  const auto result = RunApart(&apart);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->reason, StopReason::kTrials);
  EXPECT_EQ(result->new_trials, 50);
  ExpectSameTrials(apart, serial, "apart");
}

TEST_F(BuildAheadTest, ResumesAfterAKillAtEveryTrialAsIfNothingHadHappened) {
  MemoryStore whole;
  ASSERT_TRUE(RunApart(&whole).ok());
  for (size_t kept = 0; kept <= 50; ++kept) {
    MemoryStore store;
    ASSERT_TRUE(RunApart(&store).ok());
    store.Truncate(kept);
    ASSERT_TRUE(RunApart(&store).ok());
    ExpectSameTrials(store, whole, "killed after " + std::to_string(kept));
  }
}

TEST_F(BuildAheadTest, AnInterruptGivesUpWhatIsBuiltAndTheSameRunGoesOn) {
  MemoryStore whole;
  ASSERT_TRUE(RunApart(&whole).ok());
  for (const int64_t after : {0, 1, 7, 8, 30}) {
    MemoryStore store;
    const auto first = RunApart(&store, after);
    ASSERT_TRUE(first.ok()) << first.status().message();
    EXPECT_TRUE(first->interrupted);
    ASSERT_TRUE(RunApart(&store).ok());
    ExpectSameTrials(store, whole, "interrupted after " + std::to_string(after));
  }
}

TEST_F(BuildAheadTest, StoppingEarlyGivesUpTheRestOfTheBatch) {
  options_.budget.trials = 90;
  options_.budget.early_stop = 13;  // as in EarlyStopEndsAtTheSameTrialWhereverTheRunWasCut
  MemoryStore serial, apart;
  ASSERT_TRUE(Run(&serial, options_).ok());
  const auto result = RunApart(&apart);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->reason, StopReason::kEarlyStop);
  EXPECT_GT(result->finalists, 0);
  EXPECT_EQ(events_.back(), "finalists");
  ExpectSameTrials(apart, serial, "apart");
}

// Others may have the device for long: all that is to be built is built meanwhile, and then the host is given back.
TEST_F(BuildAheadTest, WhoWaitsForTheDeviceGoesOnBuilding) {
  world_.fail_share = 0;
  options_.default_config.reset();
  options_.batch = 4;
  options_.budget.trials = 4;
  options_.finalists = 0;
  MachineLock other = Lock("gpu");
  ASSERT_TRUE(other.LockExclusive(0).ok());
  MemoryStore store;
  Turns turns(Lock("host"), Lock("gpu"));
  SessionWorld world;
  world.store = &store;
  world.clock = &clock_;
  world.turns = &turns;
  world.open_device = [&]() -> Result<Device> {
    Device device;
    device.builder = std::make_unique<StepBuilder>(world_, &events_);
    const auto look = [this] { events_.push_back("measured"); };
    device.measurer = std::make_unique<LookingMeasurer>(world_, &counts_, -1, look);
    return device;
  };
  world.on_progress = [&](const History& history, double) -> Status {
    if (history.count() == 0 && Free("host") == "alone") other.Unlock();
    return Status();
  };
  History history("here");
  const auto result = RunSession(options_, world, &history);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(events_, (Events{"begin", "built", "built", "built", "built", "measured", "measured", "measured",
                             "measured"}));
}

}  // namespace
}  // namespace hone::session
