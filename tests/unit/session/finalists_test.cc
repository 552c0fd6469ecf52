// The end of a task: who competes, how often each is measured, and what is reported. Also when trials are stored.
#include "unit/session/tune_session_fixture.h"

namespace hone::session {
namespace {

struct Heat {
  std::vector<PointIndex> points;
  int rounds = 0;
};

class FinalistsTest : public TuneSessionTest {
 protected:
  FinalistsTest() {
    world_.fail_share = 0;
    world_.prune_factor = 0;
    hooks_.heat = [this](const std::vector<measure::BuiltKernel>& kernels, int rounds) {
      Heat heat{{}, rounds};
      for (const measure::BuiltKernel& kernel : kernels) heat.points.push_back(kernel.config.index);
      heats_.push_back(std::move(heat));
    };
  }

  std::vector<Heat> heats_;
};

TEST_F(FinalistsTest, TheDefaultIsMeasuredFirstInEachOfSevenToThirtyRounds) {
  const Config standard = space_.At(36);
  options_.default_config = standard;
  for (const auto& [seconds, rounds] : {std::pair(1e-6, 30), {5e-3, 13}, {1.0, 7}}) {  // a round takes six times that
    hooks_.after = [&, seconds = seconds](const Config& config, Outcome* outcome) {
      outcome->median = config == standard ? 2 * seconds : seconds;
    };
    heats_.clear();
    MemoryStore store;
    Must(Run(&store));
    ASSERT_EQ(heats_.at(0).points.size(), 5u) << "the default, and the four fastest";
    EXPECT_EQ(heats_[0].points[0], standard.index);
    EXPECT_EQ(heats_[0].rounds, rounds);
  }
}

// A machine that keeps getting slower: whoever has not been measured again looks the fastest.
TEST_F(FinalistsTest, ThereAreThreeHeatsAtMost) {
  options_.default_config = space_.At(36);
  SlowFinalists(10);
  MemoryStore store;
  Must(Run(&store));
  ASSERT_EQ(heats_.size(), 3u);
  std::set<PointIndex> others;
  size_t measured = 0;
  for (const Heat& heat : heats_) {
    EXPECT_GT(heat.points.size(), 3u);
    others.insert(heat.points.begin() + 1, heat.points.end());
    measured += heat.points.size() - 1;
  }
  EXPECT_EQ(others.size(), measured) << "others each time";
}

TEST_F(FinalistsTest, ASpeedThatChangedByATenthIsReported) {
  for (const auto& [factor, told] : {std::pair(1.05, false), {1.2, true}, {0.8, true}}) {
    options_.default_config = space_.At(36);
    SlowFinalists(factor);
    MemoryStore store;
    testing::internal::CaptureStderr();
    const SessionResult result = Must(Run(&store));
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_NEAR(result.drift, factor, 1e-9);
    EXPECT_EQ(log.find("the machine's speed changed") != std::string::npos, told) << log;
    EXPECT_NEAR(Closing::FromSettings(store.Sessions()->back().settings)->drift, factor, 1e-9);
  }
}

// Its median is too long, if anything.
TEST_F(FinalistsTest, AMarkedTrialCompetesByItsFastestRun) {
  std::optional<Config> marked;
  hooks_.after = [&](const Config& config, Outcome* outcome) {
    if (counts_.measured != 20) return;
    marked = config;
    outcome->median = 1;
    outcome->samples = {1, 1, 1e-6, 1, 1};
    outcome->disturbed = 4;
  };
  MemoryStore store;
  Must(Run(&store));
  EXPECT_THAT(heats_.at(0).points, testing::Contains(marked->index));
}

TEST_F(FinalistsTest, AreComparedByMediansAlsoAfterBlocks) {
  Protocol blocks;
  blocks.number = 2;
  options_.session.fingerprint = "here" + TimingText(blocks);
  hooks_.finalists = [](std::vector<measure::Series>* all) {
    for (measure::Series& series : *all) series.seconds = {1e-3, 1e-3, 3e-3, 3e-3, 9e-3};  // trimmed mean: 7 / 3 ms
  };
  options_.budget.trials = 4;
  MemoryStore store;
  Must(Run(&store));
  EXPECT_EQ(history_->best_seconds(), 3e-3);
}

// A kill loses what is not stored.
TEST_F(FinalistsTest, ATrialIsStoredWithinASecondOfTheLastCommit) {
  options_.batch = 16;
  MemoryStore store;
  int64_t most = 0;
  hooks_.before = [&] {
    clock_.Advance(0.4);
    const auto trials = TrialsOf(store);
    const auto stored = std::ranges::count(trials, TrialError::kNone, [](const auto& t) { return t.outcome.error; });
    most = std::max(most, counts_.measured - stored);
  };
  Must(Run(&store));
  EXPECT_GT(most, 0);
  EXPECT_LE(most, 3) << "of 0.4 s each";
}

// It proves nothing against them.
TEST_F(FinalistsTest, AnInterruptStoresTrialsWithoutACheck) {
  hooks_.sound = []() -> bool {
    ADD_FAILURE() << "checked";
    return false;
  };
  MemoryStore store;
  EXPECT_TRUE(Must(Run(&store, /*interrupt_after=*/5)).interrupted);
  EXPECT_GE(TrialsOf(store).size(), 5u);
}

}  // namespace
}  // namespace hone::session
