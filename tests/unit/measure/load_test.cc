// Timed runs that others disturb: detection (real threads), and reaction (a simulated machine).
#include "base/load_meter.h"
#include "common/kernel_layers.h"
#include "fake/fake_clock.h"
#include "fake/neighbour.h"
#include "measure/load_guard.h"
#include "measure/protocol.h"

namespace hone::measure {
namespace {

using LoadVerdict = LoadGuard::Verdict;

class LoadGuardTest : public testing::Test {
 protected:
  LoadGuard Guard() {
    return LoadGuard(limits_,
                     {[] {}, [this] { return lost_; }, [this] { return std::exchange(stolen_, 0); },
                      [this] { return pulse_; }, [this] { return slowed_; }},
                     &clock_);
  }
  // A run of `seconds` in which other programs take `lost`.
  LoadVerdict Run(LoadGuard* guard, double seconds, double lost) {
    guard->BeginRun();
    lost_ = lost;
    clock_.Advance(seconds);
    return guard->EndRun(seconds);
  }

  LoadLimits limits_;
  FakeClock clock_;
  double lost_ = 0, stolen_ = 0, pulse_ = 1;
  bool slowed_ = false;
};

TEST_F(LoadGuardTest, AnUndisturbedRunCounts) {
  LoadGuard guard = Guard();
  guard.BeginCandidate();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(Run(&guard, 1e-3, 0.5e-5), LoadVerdict::kClean);  // half a per cent
  EXPECT_EQ(guard.retaken(), 0);
}

TEST_F(LoadGuardTest, ARunThatLostMoreThanItsShareIsTakenAgain) {
  LoadGuard guard = Guard();
  guard.BeginCandidate();
  EXPECT_EQ(Run(&guard, 1e-3, 2e-5), LoadVerdict::kAgain);
  EXPECT_EQ(Run(&guard, 1e-3, 0), LoadVerdict::kClean);
  EXPECT_EQ(guard.retaken(), 1);
  // A loss below the clock's own resolution counts as no loss, however short the run.
  EXPECT_EQ(Run(&guard, 1e-5, 1e-6), LoadVerdict::kClean);
}

TEST_F(LoadGuardTest, PatienceEnds) {
  LoadGuard guard = Guard();
  guard.BeginCandidate();
  const double begin = clock_.NowSeconds();
  int again = 0;
  while (Run(&guard, 1e-2, 5e-3) == LoadVerdict::kAgain && again < 100000) ++again;
  EXPECT_GT(again, 10);
  EXPECT_LE(clock_.NowSeconds() - begin, limits_.patience_seconds + 0.1);
  // From here on, discarded runs may take at most half of the time, as kept runs earn it.
  const double spent = clock_.NowSeconds() - begin;
  clock_.Advance(1);  // a second of other work earns one
  int more = 0;
  while (Run(&guard, 1e-2, 5e-3) == LoadVerdict::kAgain && more < 100000) ++more;
  EXPECT_GT(more, 10);
  EXPECT_LE(clock_.NowSeconds() - begin, spent + 1 + 1 + 0.1);
}

// Rewriting large activations takes longer than the kernel: that time must not earn credit, or patience would never
// end.
TEST_F(LoadGuardTest, WhatIsPreparedAgainComesFromTheCreditToo) {
  LoadGuard guard = Guard();
  guard.BeginCandidate();
  const double begin = clock_.NowSeconds();
  int again = 0;
  for (LoadVerdict verdict = LoadVerdict::kAgain; verdict == LoadVerdict::kAgain && again < 100000; ++again) {
    clock_.Advance(0.05);
    verdict = Run(&guard, 1e-2, 5e-3);
  }
  EXPECT_GT(again, 10);
  EXPECT_LE(clock_.NowSeconds() - begin, limits_.patience_seconds + 0.2);
}

TEST_F(LoadGuardTest, WhatIsPreparedForACleanRunComesFromItToo) {
  LoadGuard guard = Guard();
  guard.BeginCandidate();
  const double begin = clock_.NowSeconds(), prepare = 0.05, run = 0.01;
  constexpr int kSamples = 1000;
  for (int sample = 0; sample < kSamples; ++sample) {
    LoadVerdict verdict = LoadVerdict::kAgain;
    for (int attempt = 0; verdict == LoadVerdict::kAgain; ++attempt) {
      clock_.Advance(prepare);
      verdict = Run(&guard, run, attempt < 2 ? run / 2 : 0);  // the third is clean
    }
  }
  EXPECT_LE(clock_.NowSeconds() - begin, 2 * kSamples * (prepare + run) + limits_.patience_seconds + 0.2);
}

TEST_F(LoadGuardTest, ANeighbourThatGoesIsWaitedFor) {
  LoadGuard guard = Guard();
  guard.BeginCandidate();
  const double until = clock_.NowSeconds() + 1;  // less than patience
  LoadVerdict verdict = LoadVerdict::kAgain;
  int runs = 0;
  for (; verdict == LoadVerdict::kAgain; ++runs) verdict = Run(&guard, 1e-3, clock_.NowSeconds() < until ? 4e-4 : 0);
  EXPECT_EQ(verdict, LoadVerdict::kClean);
  EXPECT_LT(runs, 200) << "in a second of pauses, not of trying all the time";
}

TEST_F(LoadGuardTest, StolenTimeAndASlowPulseDisturbToo) {
  LoadGuard guard = Guard();
  guard.BeginCandidate();
  EXPECT_EQ(Run(&guard, 0.02, 0), LoadVerdict::kClean);
  stolen_ = 0.01;
  EXPECT_EQ(Run(&guard, 0.02, 0), LoadVerdict::kAgain);
  EXPECT_EQ(Run(&guard, 0.02, 0), LoadVerdict::kClean);
  clock_.Advance(limits_.pulse_every);
  pulse_ = 0.6;
  EXPECT_EQ(Run(&guard, 0.02, 0), LoadVerdict::kAgain);
  EXPECT_EQ(Run(&guard, 0.02, 0), LoadVerdict::kAgain) << "until it is better";
  pulse_ = 0.97;
  EXPECT_EQ(Run(&guard, 0.02, 0), LoadVerdict::kClean);
}

TEST_F(LoadGuardTest, ASlowedMachineDisturbsEveryRun) {
  LoadGuard guard = Guard();
  guard.BeginCandidate();
  slowed_ = true;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Run(&guard, 1e-3, 0), LoadVerdict::kAgain);
  slowed_ = false;
  EXPECT_EQ(Run(&guard, 1e-3, 0), LoadVerdict::kClean);
  EXPECT_EQ(guard.retaken(), 3);
}

TEST(StoppingRuleUnderLoad, ADisturbedRunPrunesNothing) {
  StoppingRule rule(Protocol(), 1e-3);
  EXPECT_EQ(rule.Add(5e-3, true), StoppingRule::Verdict::kMore);
  EXPECT_EQ(rule.Add(5e-3, true), StoppingRule::Verdict::kMore);
  for (int i = 0; i < 3 && !rule.Enough(); ++i) rule.Add(5e-3, true);
  EXPECT_FALSE(rule.pruned());
  EXPECT_EQ(rule.disturbed(), 5);
}

TEST(LoadMeterTest, SeesANeighbourOnTheSameCore) {
  const fake::SharedCore core;
  LoadMeter meter;
  if (!HasSchedstat()) GTEST_SKIP() << kNoSchedstat;
  ASSERT_TRUE(core.shared());
  meter.Start();
  fake::Work(0.2);  // many time slices: the two share the core
  EXPECT_GT(meter.Lost(), 0.02);
}

}  // namespace
}  // namespace hone::measure
