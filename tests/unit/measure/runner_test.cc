// How often a candidate is timed, with a runner whose times are given.
#include "common/expect.h"
#include "measure/candidate_runner.h"

namespace hone::measure {
namespace {

class ScriptedRunner : public CandidateRunner {
 public:
  explicit ScriptedRunner(const Protocol& protocol) : CandidateRunner(TaskSetup{.protocol = protocol}) {}
  double peak_flops() const override { return 0; }

  std::vector<double> runs;     // seconds of a run, for each sample; the last one repeats
  std::vector<bool> disturbed;  // the same; false at first
  double warm = 0;
  std::vector<int64_t> numbers;  // of the runs of each sample that was taken
  std::vector<double> times;     // when it was taken

 protected:
  Result<std::unique_ptr<Candidate>> Ready(const BuiltKernel&, bool, TrialError*) override {
    return std::make_unique<Candidate>();
  }
  Result<Sample> Time(Candidate*, int64_t number, TrialError*) override {
    const size_t i = numbers.size();
    numbers.push_back(number);
    times.push_back(RealClock()->NowSeconds());
    return Sample{static_cast<double>(number) * runs[std::min(i, runs.size() - 1)],
                  i < disturbed.size() && disturbed[i]};
  }
  void KeepConstants(size_t) override {}
  double warm_seconds() const override { return warm; }
};

TEST(Blocks, AreNeverPrunedAndAllGrowOnceOneWasTooShort) {
  ScriptedRunner runner({.number = 2, .repeat = 4, .min_repeat_ms = 1});
  runner.runs = {1e-4, 2e-4, 4e-4, 1e-4, 3e-4};
  const Outcome outcome = runner.Measure(BuiltKernel(), /*incumbent=*/1e-9);
  EXPECT_EQ(outcome.state, TrialState::kOk) << "not pruned";
  EXPECT_EQ(runner.numbers, (std::vector<int64_t>{2, 11, 11, 11, 11})) << "1 ms of 0.1 ms are 10, and one more";
  ASSERT_EQ(outcome.samples.size(), 4u) << "the short one does not count";
  EXPECT_DOUBLE_EQ(outcome.median, 2.5e-4) << "of 0.2, 0.4, 0.1 and 0.3 ms, without the extremes";
}

TEST(Samples, FiveCleanOnesAreEnoughOncePatienceEnds) {
  ScriptedRunner runner({.usual_seconds = 1});
  runner.runs = {1e-3, 2e-3, 1e-3, 2e-3, 1e-3, 2e-3};  // they disagree: more are wanted
  runner.disturbed = {false, false, false, false, false, true};
  const Outcome clean = runner.Measure(BuiltKernel(), 0);
  EXPECT_EQ(clean.samples.size(), 5u);
  EXPECT_EQ(clean.disturbed, 0) << "the sixth is left out";
  ScriptedRunner early({.usual_seconds = 1});
  early.runs = runner.runs;
  early.disturbed = {false, false, false, false, true};
  EXPECT_GT(early.Measure(BuiltKernel(), 0).disturbed, 0) << "four are not enough";
}

// The first rounds warm the machine up, and do not count.
TEST(Finalists, AreWarmWhenTheirRunsCount) {
  ScriptedRunner runner({.number = 1});
  runner.runs = {1e-3};
  runner.warm = 0.02;
  const double began = RealClock()->NowSeconds();
  const std::vector<Series> series = runner.MeasureInterleaved({BuiltKernel()}, 7);
  ASSERT_EQ(series[0].seconds.size(), 7u) << series[0].error_text;
  ASSERT_GT(runner.times.size(), 7u);
  EXPECT_GE(runner.times[runner.times.size() - 7] - began, 0.02);
}

}  // namespace
}  // namespace hone::measure
