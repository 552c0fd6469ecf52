#include "library/quiet_runs.h"

#include "common/kernel_layers.h"
#include "fake/neighbour.h"

namespace hone::library {
namespace {

constexpr double kRun = 0.02;  // longer than a time slice of the scheduler

TEST(QuietRunsTest, ARunThatANeighbourDisturbsIsTakenAgainUntilPatienceIsUsedUp) {
  const fake::SharedCore core;
  if (!HasSchedstat()) GTEST_SKIP() << kNoSchedstat;
  ASSERT_TRUE(core.shared());
  int calls = 0;
  const auto run = [&calls] {
    ++calls;
    fake::Work(kRun);
    return Status();
  };
  QuietRuns patient(0.2);
  EXPECT_GE(Must(patient.Time(run)), kRun);
  EXPECT_GT(patient.retaken(), 0);
  EXPECT_EQ(calls, 2 * patient.retaken() + 1);
  EXPECT_GE(patient.wasted_seconds(), static_cast<double>(patient.retaken()) * kRun);

  calls = 0;
  QuietRuns impatient(0);
  ASSERT_TRUE(impatient.Time(run).ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(impatient.retaken(), 0);
  EXPECT_EQ(impatient.wasted_seconds(), 0);
}

TEST(QuietRunsTest, ARunThatFailsEndsIt) {
  QuietRuns runs(1);
  EXPECT_EQ(runs.Time([] { return Status::Interrupted("stop"); }).status().kind(), StatusKind::kInterrupted);
}

}  // namespace
}  // namespace hone::library
