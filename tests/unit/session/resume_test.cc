// A job that was killed goes on as if nothing had happened, whichever tuner proposes: those that plan rounds, too,
// whose plans do not hold the default.
#include <algorithm>

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
  const std::vector<uint64_t> plan = (*tuner)->NextBatch(16);
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

INSTANTIATE_TEST_SUITE_P(Tuners, EveryTuner, testing::Values("annealing", "auto", "ga", "grid", "random", "xgb_knob"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace hone::session
