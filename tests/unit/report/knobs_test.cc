#include "common/expect.h"
#include "report/report_data.h"

namespace hone::report {
namespace {

TrialFact Trial(int64_t ordinal, double seconds, int64_t tile, const std::string& order) {
  TrialFact trial{ordinal, TrialState::kOk, TrialError::kNone, seconds};
  trial.config.template_name = "t";
  trial.config.values = {{"tile", KnobKind::kOther, {tile}, {}}, {"order", KnobKind::kOther, {}, {order}}};
  return trial;
}

TEST(Knobs, TheOneThatDecidesComesFirst) {
  TaskFact task;
  // The tile decides; the order does not matter: both orders have the same times.
  for (int i = 0; i < 16; ++i) {
    task.trials.push_back(
        Trial(i, (i % 2 ? 0.001 : 0.004) * (1 + 0.001 * (i / 4)), i % 2 ? 16 : 4, i % 4 < 2 ? "a" : "b"));
  }
  const std::vector<KnobFact> facts = KnobFacts(task);
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].knob, "tile");
  EXPECT_EQ(facts[0].values, (std::vector<std::string>{"4", "16"})) << "by size, not by text";
  EXPECT_GT(facts[0].explained, 0.99);
  EXPECT_LT(facts[1].explained, 0.01);
  EXPECT_EQ(facts[0].uses.size(), 16u);
}

TEST(Knobs, WithOneValueOrFailedTrialsAloneExplainNothing) {
  TaskFact task{.trials = {Trial(0, 0.1, 1, "a"), Trial(1, 0.2, 1, "b")}};
  for (TrialFact& trial : task.trials) {
    trial.state = TrialState::kFailed;
    trial.seconds = 0;
  }
  const std::vector<KnobFact> facts = KnobFacts(task);
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts[0].knob, "order");
  EXPECT_EQ(facts[0].explained, 0);
  EXPECT_TRUE(KnobFacts(TaskFact()).empty());
}

// By hand: logs 0 0 | 1 3 with means 0 and 2: within 2, total 6, of 4 values in 2 groups: 1 - (2 / 2) / (6 / 3) = 0.5.
TEST(Knobs, ExplainedIsEpsilonSquared) {
  TaskFact task;
  const double times[] = {1, 1, std::exp(1.0), std::exp(3.0)};
  for (int i = 0; i < 4; ++i) task.trials.push_back(Trial(i, times[i], i / 2, "a"));
  EXPECT_NEAR(KnobFacts(task).at(0).explained, 0.5, 1e-9);
}

}  // namespace
}  // namespace hone::report
