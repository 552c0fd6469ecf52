// Finalists are measured again under other conditions, but tuners and donors still get the times of the search.
#include "session/history.h"
#include "unit/session/tune_session_fixture.h"

namespace hone::session {
namespace {

Outcome Timed(const std::string& artifact, TrialState state, double median, const std::vector<double>& samples) {
  return {.state = state, .samples = samples, .median = median, .artifact_digest = artifact};
}

TEST(SearchTimes, AreThoseOfATrialsOwnFirstSamples) {
  SearchTimes times("here");
  EXPECT_EQ(times.Take(Timed("a", TrialState::kOk, 8, {1, 3, 2, 8, 9, 7}), {0, 0, 0, 1, 1, 1}), 2);
  EXPECT_EQ(times.Take(Timed("a", TrialState::kOk, 8, {})), 2) << "a twin's are those of what was timed";
  EXPECT_EQ(times.Take(Timed("b", TrialState::kPruned, 4, {5, 4}), {0, 0}), 4) << "a bound is no median";
  EXPECT_EQ(times.Take(Timed("b", TrialState::kPruned, 4, {})), 4);
  EXPECT_EQ(times.Take(Timed("c", TrialState::kOk, 6, {6, 7, 5})), 6);
  EXPECT_EQ(times.Take(Timed("d", TrialState::kOk, 9, {9, 9}), {1, 1}), 9) << "the first ones are lost";
  EXPECT_EQ(times.Take(Timed("", TrialState::kFailed, 0, {})), 0);
}

TEST(SearchTimes, OfBlocksAreTrimmedMeansAsTheTrialsWere) {
  Protocol blocks;
  blocks.number = 2;
  SearchTimes times("here" + TimingText(blocks));
  EXPECT_EQ(times.Take(Timed("a", TrialState::kOk, 9, {1, 2, 4, 9, 9}), {0, 0, 0, 0, 1}), 3);
  EXPECT_EQ(times.Take(Timed("b", TrialState::kOk, 5, {1, 4, 6, 9})), 5);
}

// Records what it is told.
class Listener : public search::Tuner {
 public:
  Listener(std::unique_ptr<search::Tuner> inner, std::vector<Outcome>* told) : inner_(std::move(inner)), told_(told) {}
  const char* name() const override { return inner_->name(); }
  std::vector<PointIndex> NextBatch(int n) override { return inner_->NextBatch(n); }
  void Update(const std::vector<Outcome>& outcomes) override {
    told_->insert(told_->end(), outcomes.begin(), outcomes.end());
    inner_->Update(outcomes);
  }

 private:
  std::unique_ptr<search::Tuner> inner_;
  std::vector<Outcome>* told_;
};

class AfterFinalistsTest : public TuneSessionTest {
 protected:
  AfterFinalistsTest() {
    world_.fail_share = 0;
    world_.prune_factor = 0;  // pruning depends on the incumbent, which may be a finalist
    SlowFinalists(10);        // so that the fastest points look like the slowest
  }

  // The outcomes that the tuner got.
  std::vector<Outcome> Tune(MemoryStore* store, int64_t trials) {
    options_.budget.trials = trials;
    std::vector<Outcome> told;
    SessionWorld world = World(store);
    world.make_tuner = [&]() -> Result<std::unique_ptr<search::Tuner>> {
      auto inner = Must(search::MakeTuner(options_.tuner, space_, options_.seed));
      return std::unique_ptr<search::Tuner>(new Listener(std::move(inner), &told));
    };
    Must(RunIn(world));
    return told;
  }
};

TEST_F(AfterFinalistsTest, ATunerIsToldTheTimesOfTheSearch) {
  MemoryStore store;
  Tune(&store, 20);
  ASSERT_GE(store.remeasured, 4);
  const std::vector<Outcome> told = Tune(&store, 30);
  ASSERT_EQ(told.size(), 30U);
  for (const Outcome& outcome : told) {
    if (outcome.state == TrialState::kOk) {
      EXPECT_EQ(outcome.median, world_.Seconds(outcome.config)) << outcome.config.Text();
    }
  }
  // The winner is still chosen by the finalists' times.
  int slow = 0;
  for (const record::Trial& trial : TrialsOf(store)) {
    slow += trial.outcome.state == TrialState::kOk && trial.outcome.median > 2 * world_.Seconds(trial.outcome.config);
  }
  EXPECT_GE(slow, 4);
}

// A continued run behaves as if one run had reported all trials.
TEST_F(AfterFinalistsTest, ABudgetThatGrowsTriesWhatALargeOneHad) {
  for (const char* tuner : {"annealing", "ga", "auto"}) {
    options_.tuner = tuner;
    MemoryStore whole, grown;
    Tune(&whole, 60);
    for (const int64_t trials : {20, 33, 60}) Tune(&grown, trials);
    EXPECT_EQ(Indices(grown), Indices(whole)) << tuner;
  }
}

// A trial whose artifact was timed in a trial that is now a finalist has that one's first time, both in the run that
// tried it and later.
TEST_F(AfterFinalistsTest, ATwinOfAFinalistHasItsFirstTime) {
  MakeTwins();
  MemoryStore store;
  Tune(&store, 20);
  const std::vector<Outcome> live = Tune(&store, 40), resumed = Tune(&store, 41);
  ASSERT_EQ(live.size(), 40U);
  ASSERT_EQ(resumed.size(), 41U);
  for (size_t i = 0; i < live.size(); ++i) EXPECT_EQ(live[i].median, resumed[i].median) << i;
}

}  // namespace
}  // namespace hone::session
