// Tuning ends when the tuner expects little, and which trials count under limits on numerics; the fake device's times
// are a pure function of the config.
#include "base/statistics.h"
#include "unit/session/tune_session_fixture.h"

namespace hone::session {
namespace {

// Three values of m, some of which limits may forbid, and forty of b.
search::TaskSpace MakeCappedSpace(int64_t cap = 6) {
  search::Space space("fake");
  space.Add(search::Knob::Choice("m", {2, 4, 6}));
  space.Add(search::Knob::Choice("b", UpTo(40)));
  space.AddRule({"numerics", [cap](const Config& c) -> std::optional<std::string> {
                   if (c.Number("m") <= cap) return std::nullopt;
                   return "m is above the cap";
                 }});
  search::TaskSpace task;
  task.Add(std::move(space));
  return task;
}

// The grid's order; expects a gain of 8 / the number of known trials.
class HopefulTuner : public search::Tuner {
 public:
  explicit HopefulTuner(const search::TaskSpace& space) : inner_(*search::MakeTuner("grid", space, 1)) {}
  const char* name() const override { return "hopeful"; }
  std::vector<PointIndex> NextBatch(int n) override { return inner_->NextBatch(n); }
  void Update(const std::vector<Outcome>& outcomes) override {
    known_ += outcomes.size();
    inner_->Update(outcomes);
  }
  std::optional<double> ExpectedGain() const override {
    if (known_ == 0) return std::nullopt;
    return 8.0 / static_cast<double>(known_);
  }

 private:
  std::unique_ptr<search::Tuner> inner_;
  size_t known_ = 0;
};

class StopAndScopeTest : public TuneSessionTest {
 protected:
  StopAndScopeTest() {
    options_.budget.trials = 100;
    options_.default_config.reset();
    world_.fail_share = 0;
    SlowFinalists(2);
    world_.prune_factor = 0;
  }

  SessionResult Run(MemoryStore* store, int64_t cap = 6, bool matters = true) {
    const search::TaskSpace space = MakeCappedSpace(matters ? cap : 6);
    options_.space = &space;
    options_.session.settings = R"({"numerics": {"winograd": )" + std::to_string(cap) + "}}";
    SessionWorld world = World(store);
    if (hopeful_) {
      world.make_tuner = [&]() -> Result<std::unique_ptr<search::Tuner>> {
        return std::unique_ptr<search::Tuner>(new HopefulTuner(space));
      };
    }
    Scope scope;
    if (matters) scope.numerics.winograd = static_cast<int>(cap);
    scope.matter.winograd = matters;
    if (matters) scope.allowed = [cap](const Outcome& o) { return o.config.Number("m") <= cap; };
    return Must(RunIn(world, scope));
  }

  static std::vector<Outcome> OutcomesOf(const MemoryStore& store) {
    std::vector<Outcome> outcomes;
    for (const record::Trial& trial : TrialsOf(store)) outcomes.push_back(trial.outcome);
    return outcomes;
  }

  bool hopeful_ = false;
};

// 8 / 32 is not below a quarter, 8 / 40 is; batches have 8.
TEST_F(StopAndScopeTest, StopsWhereTheTunerExpectsLessAndStoresThatItDid) {
  hopeful_ = true;
  options_.budget.expected_gain = 0.25;
  MemoryStore store;
  const SessionResult result = Run(&store);
  EXPECT_EQ(result.reason, StopReason::kExpectedGain);
  EXPECT_EQ(result.new_trials, 40);
  const auto closing = Closing::FromSettings(store.Sessions()->back().settings);
  ASSERT_TRUE(closing.has_value());
  EXPECT_EQ(closing->reason, StopReason::kExpectedGain);
  EXPECT_EQ(closing->expected_gain, 0.25);
  EXPECT_EQ(closing->ReasonText(), "the tuner expects to gain less than 25 %");

  EXPECT_EQ(Run(&store).new_trials, 0);
  options_.budget.expected_gain = 0.5;
  EXPECT_EQ(Run(&store).new_trials, 0) << "who asks for less is content, too";
  options_.budget.expected_gain = 0.1;
  EXPECT_EQ(Run(&store).new_trials, 48) << "8 / 88 is below a tenth, 8 / 80 is not";
}

TEST_F(StopAndScopeTest, ARunThatWasCutAnywhereEndsAtTheSameTrialForExpectedGain) {
  hopeful_ = true;
  options_.budget.expected_gain = 0.25;
  for (size_t kept = 0; kept < 40; kept += 3) {
    MemoryStore store;
    Run(&store);
    store.Truncate(kept);
    EXPECT_EQ(Run(&store).reason, StopReason::kExpectedGain) << kept;
    EXPECT_EQ(*store.CountTrials(), 40) << kept;
  }
}

// Two rounds of seconds; the records tell later what the first one had, so that sharing out can be repeated.
TEST_F(StopAndScopeTest, TheTrialsWithinABudgetOfSecondsAreKnownAfterwards) {
  hopeful_ = true;
  hooks_.before = [this] { clock_.Advance(1); };
  options_.finalists = 0;
  options_.budget.seconds = 12.5;
  MemoryStore store;
  EXPECT_EQ(Run(&store).reason, StopReason::kSeconds);
  const int64_t first = history_->count();
  EXPECT_EQ(first, 13);
  History again("here");
  Must(again.Load(store));
  EXPECT_EQ(again.CountWithin(12.5), first);
  EXPECT_NEAR(again.TuningSeconds(first), 13, 0.1);
  EXPECT_EQ(again.Met(options_.budget, 0), StopReason::kSeconds) << "nothing is measured again";
  options_.budget.seconds = 20;
  Run(&store);
  History both("here");
  Must(both.Load(store));
  EXPECT_EQ(both.count(), 20);
  EXPECT_EQ(both.CountWithin(12.5), first);
  EXPECT_EQ(both.CountWithin(20), 20);
  EXPECT_EQ(both.CountWithin(0), 20) << "no limit";
  EXPECT_NEAR(both.TuningSeconds(first), 13, 0.1);
  EXPECT_NEAR(both.TuningSeconds(15), 15, 0.1) << "two of the second session's seven";
  EXPECT_EQ(both.TunerGain(first), 8.0 / 13);
  EXPECT_EQ(both.TunerGain(20), 8.0 / 20);
  EXPECT_LT(both.TunerGain(15), 0) << "no run ended there";
  const std::vector<History::Improvement> better = both.Improvements(20);
  ASSERT_FALSE(better.empty());
  EXPECT_EQ(better.front().trials, 1);
  EXPECT_EQ(better.back().seconds, both.SearchSeconds(20));
  EXPECT_EQ(both.Improvements(first).back().seconds, both.SearchSeconds(first));
}

TEST_F(StopAndScopeTest, ATunerWithoutExpectationsIsNotStopped) {
  options_.budget.expected_gain = 1;
  options_.tuner = "random";
  MemoryStore store;
  EXPECT_EQ(Run(&store).reason, StopReason::kTrials);
}

TEST_F(StopAndScopeTest, ALowerCapMeasuresWhatIsMissingUnderItAndNothingElse) {
  options_.budget.trials = 30;
  MemoryStore store;
  Run(&store, 6);
  const std::vector<Outcome> before = OutcomesOf(store);
  const auto allowed = std::count_if(before.begin(), before.end(), [](auto& o) { return o.config.Number("m") <= 2; });
  ASSERT_GT(allowed, 0);
  ASSERT_LT(allowed, 30);
  const SessionResult capped = Run(&store, 2);
  EXPECT_EQ(capped.new_trials, 30 - allowed);
  EXPECT_EQ(history_->count(), 30);
  const std::vector<Outcome> after = OutcomesOf(store);
  for (size_t i = 30; i < after.size(); ++i) EXPECT_EQ(after[i].config.Number("m"), 2) << i;
  EXPECT_EQ(Run(&store, 2).new_trials, 0);
  EXPECT_EQ(Run(&store, 6).new_trials, 0) << "all that a wider cap measured is there";
}

// Results under narrow limits must not prevent a search under wide ones.
TEST_F(StopAndScopeTest, AHigherCapIsSearchedAnewButNoKernelIsTimedTwice) {
  options_.budget.trials = 30;
  MemoryStore store;
  Run(&store, 2);
  const SessionResult wide = Run(&store, 6);
  EXPECT_EQ(wide.new_trials, 30);
  const std::vector<Outcome> all = OutcomesOf(store);
  EXPECT_TRUE(std::any_of(all.begin() + 30, all.end(), [](auto& o) { return o.config.Number("m") == 6; }));
  int64_t again = 0;
  for (size_t i = 30; i < all.size(); ++i) {
    again += std::any_of(all.begin(), all.begin() + 30,
                         [&](auto& o) { return o.artifact_digest == all[i].artifact_digest; });
  }
  EXPECT_GT(again, 0) << "choose another seed for this test";
  EXPECT_EQ(counts_.measured, 30 - again);
  // Finalists take twice as long the second time. `hone-records verify` checks that a median is that of the trial's own
  // last samples, or of an earlier trial of its artifact.
  const std::vector<record::Trial> trials = *store.Trials();
  for (const record::Trial& trial : trials) {
    if (!trial.rounds.empty()) {
      EXPECT_EQ(trial.outcome.median, Median(trial.LastRound())) << trial.ordinal;
      continue;
    }
    const auto first = std::find_if(trials.begin(), trials.end(), [&](const record::Trial& other) {
      return other.outcome.artifact_digest == trial.outcome.artifact_digest;
    });
    EXPECT_EQ(trial.outcome.median, first->outcome.median) << trial.ordinal;
  }
}

TEST_F(StopAndScopeTest, WhereNoCapMattersAChangedOneMeasuresNothing) {
  options_.budget.trials = 30;
  MemoryStore store;
  Run(&store, 2, false);
  for (const int64_t cap : {6, 0, 4}) EXPECT_EQ(Run(&store, cap, false).new_trials, 0) << cap;
}

// The distribution of trials depends on it: later trials must not change an earlier decision.
TEST_F(StopAndScopeTest, SearchSecondsAreThoseBeforeFinalistsAndLaterTrials) {
  options_.budget.trials = 20;
  MemoryStore store;
  Run(&store);
  const auto search_seconds = [&](int64_t count) {
    History history("here");
    EXPECT_TRUE(history.Load(store).ok());
    return history.SearchSeconds(count);
  };
  const std::vector<Outcome> outcomes = OutcomesOf(store);
  for (const int64_t count : {1, 7, 20}) {
    double fastest = 1;
    for (int64_t i = 0; i < count; ++i) {
      fastest = std::min(fastest, world_.Seconds(outcomes[static_cast<size_t>(i)].config));
    }
    EXPECT_DOUBLE_EQ(search_seconds(count), fastest) << count;
  }
  const double then = search_seconds(7);
  options_.budget.trials = 40;
  Run(&store);
  EXPECT_EQ(search_seconds(7), then);
  EXPECT_EQ(search_seconds(0), 0);
}

// Superseded trials do not count, but a kernel that is the same in the new version is not measured again.
TEST(HistoryTest, SupersededTrialsAreNotCountedButTheirArtifactsAreKnown) {
  MemoryStore store;
  const int64_t id = *store.BeginSession({.fingerprint = "here"});
  const auto timed = [](double seconds, const char* artifact, const char* template_name) {
    return Outcome{.config = {template_name, 0, {}},
                   .state = TrialState::kOk,
                   .samples = {seconds},
                   .median = seconds,
                   .artifact_digest = artifact};
  };
  const std::vector<Outcome> outcomes = {timed(1, "a", "old"), timed(2, "b", "kept")};
  ASSERT_TRUE(store.Append(id, outcomes, 1).ok());
  store.Supersede(0);
  History history("here");
  ASSERT_TRUE(history.Load(store).ok());
  EXPECT_EQ(history.count(), 1);
  EXPECT_EQ(history.superseded(), 1);
  EXPECT_EQ(history.outside(), 0);
  EXPECT_EQ(history.best_seconds(), 2);
  EXPECT_FALSE(history.Knows(outcomes[0].config)) << "its point is tried again";
  ASSERT_NE(history.OfArtifact("a"), nullptr);
  EXPECT_EQ(history.OfArtifact("a")->median, 1);
  history.Add(outcomes[1]);
  EXPECT_EQ(history.ordinal(1), 2) << "behind all that are stored";
}

// A session without TF32 did not try those points; one with TF32 tried all.
TEST(HistoryTest, TrialsCountUnderTheSameOrWiderNumerics) {
  MemoryStore store;
  const auto session = [&](const char* settings) {
    const int64_t id = *store.BeginSession({.fingerprint = "here", .settings = settings});
    const Config config{"", static_cast<PointIndex>(id), {}};
    Must(store.Append(id, {{.config = config, .state = TrialState::kOk, .samples = {1}, .median = 1}}, 1));
  };
  session(R"({"numerics": {"winograd": 6}})");
  session(R"({"numerics": {"winograd": 6, "tf32": true}})");
  session(R"({"numerics": {"winograd": 4, "tf32": true}})");
  const auto counted = [&](int winograd, bool tf32, op::NumericsMatter matter) {
    Scope scope{.numerics = {winograd, tf32}, .matter = matter};
    History history("here", scope);
    EXPECT_TRUE(history.Load(store).ok());
    return history.count();
  };
  EXPECT_EQ(counted(6, false, {true, true}), 2) << "the first two";
  EXPECT_EQ(counted(6, true, {true, true}), 1) << "the second";
  EXPECT_EQ(counted(4, true, {true, true}), 2) << "the last two";
  EXPECT_EQ(counted(4, false, {true, true}), 3);
  EXPECT_EQ(counted(6, true, {false, true}), 2) << "no Winograd there: the last two";
  EXPECT_EQ(counted(6, true, {true, false}), 2) << "nothing in TF32: the first two";
  EXPECT_EQ(counted(6, true, {}), 3);
}

}  // namespace
}  // namespace hone::session
