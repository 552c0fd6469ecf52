// A killed job continues as if nothing had happened, whichever tuner proposes, including those that plan rounds and
// whose plans lack the default.
#include "common/xgb.h"
#include "unit/session/tune_session_fixture.h"

namespace hone::session {
namespace {

class EveryTuner : public TuneSessionTest, public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override {
    if (const std::string why = GetParam() == "xgb_knob" ? NoXgb() : ""; !why.empty()) GTEST_SKIP() << why;
    options_.tuner = GetParam();
    options_.finalists = 0;
  }
};

TEST_P(EveryTuner, ResumesAtEveryTrialWhereItsPlanLacksTheDefault) {
  options_.budget.trials = 30;
  options_.batch = 16;  // more than a round of some tuners
  const auto plan = Must(search::MakeTuner(options_.tuner, space_, options_.seed))->NextBatch(16);
  ASSERT_EQ(std::count(plan.begin(), plan.end(), options_.default_config->index), 0);
  MemoryStore whole;
  Must(Run(&whole));
  ASSERT_EQ(*whole.CountTrials(), 30);
  ExpectResumes(whole);
}

// 64^12 points, followed by 9 of another template: most have no 64-bit index, which records could hold.
TEST_P(EveryTuner, TunesAndResumesBeyond2To64Points) {
  search::Space large("large"), small("small");
  for (int k = 0; k < 12; ++k) large.Add(search::Knob::Choice("k" + std::to_string(k), UpTo(64)));
  for (const char* name : {"k0", "k1"}) small.Add(search::Knob::Choice(name, UpTo(3)));
  space_ = search::TaskSpace();
  space_.Add(std::move(large));
  space_.Add(std::move(small));
  options_.default_config = space_.At(space_.size() - 5);
  options_.budget.trials = 24;
  MemoryStore whole;
  Must(Run(&whole));
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
  ExpectResumes(whole, 8);
}

INSTANTIATE_TEST_SUITE_P(Tuners, EveryTuner, testing::Values("annealing", "auto", "ga", "grid", "random", "xgb_knob"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace hone::session
