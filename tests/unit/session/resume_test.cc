// A job that was killed goes on as if nothing had happened, whichever tuner proposes: those that plan rounds, too,
// whose plans do not hold the default.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "search/tuner/tuner.h"
#include "unit/session/tune_session_fixture.h"

namespace hone::session {
namespace {

class EveryTuner : public TuneSessionTest, public testing::WithParamInterface<const char*> {};

TEST_P(EveryTuner, ResumesAtEveryTrialWhereItsPlanLacksTheDefault) {
  options_.tuner = GetParam();
  options_.budget.trials = 30;
  options_.batch = 16;  // more than a round of some
  options_.finalists = 0;
  auto tuner = search::MakeTuner(options_.tuner, space_, options_.seed);
  if (tuner.status().kind() == StatusKind::kUnsupported) GTEST_SKIP() << tuner.status().message();
  ASSERT_TRUE(tuner.ok()) << tuner.status().message();
  const std::vector<PointIndex> plan = (*tuner)->NextBatch(16);
  ASSERT_EQ(std::count(plan.begin(), plan.end(), options_.default_config->index), 0);
  MemoryStore whole;
  ASSERT_TRUE(Run(&whole).ok());
  ASSERT_EQ(*whole.CountTrials(), 30);
  for (size_t kept = 0; kept <= 30; ++kept) {
    MemoryStore store = whole;
    store.Truncate(kept);
    const auto resumed = Run(&store);
    ASSERT_TRUE(resumed.ok()) << resumed.status().message();
    ExpectSameTrials(store, whole, "killed after " + std::to_string(kept));
  }
}

// 64^12 points, and 9 of another template behind them: most have no index of 64 bits, which records could hold.
TEST_P(EveryTuner, TunesAndResumesBeyond2To64Points) {
  std::vector<int64_t> values;
  for (int64_t v = 0; v < 64; ++v) values.push_back(v);
  search::Space large("large"), small("small");
  for (int k = 0; k < 12; ++k) large.Add(search::Knob::Choice("k" + std::to_string(k), values));
  small.Add(search::Knob::Choice("k0", {0, 1, 2}));
  small.Add(search::Knob::Choice("k1", {0, 1, 2}));
  space_ = search::TaskSpace();
  space_.Add(std::move(large));
  space_.Add(std::move(small));
  options_.default_config = space_.At(space_.size() - 5);
  options_.tuner = GetParam();
  options_.budget.trials = 24;
  options_.finalists = 0;
  if (!search::MakeTuner(options_.tuner, space_, options_.seed).ok()) GTEST_SKIP() << "not in this build";
  MemoryStore whole;
  ASSERT_TRUE(Run(&whole).ok());
  std::set<std::string> tried;
  int without_index = 0;
  for (const record::Trial& trial : TrialsOf(whole)) {
    tried.insert(trial.outcome.config.Text());
    without_index += trial.outcome.config.index == kNoIndex;
  }
  EXPECT_EQ(tried.size(), 24U);
  if (options_.tuner != "grid") {
    EXPECT_GT(without_index, 8);
  }
  for (const size_t kept : {0, 1, 11, 23}) {
    MemoryStore store = whole;
    store.Truncate(kept);
    const auto resumed = Run(&store);
    ASSERT_TRUE(resumed.ok()) << resumed.status().message();
    ExpectSameTrials(store, whole, "killed after " + std::to_string(kept));
  }
}

INSTANTIATE_TEST_SUITE_P(Tuners, EveryTuner, testing::Values("annealing", "auto", "ga", "grid", "random", "xgb_knob"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace hone::session
