// Several sweeps of one space: a sweep's lucky or unlucky times do not decide.
#include "perf/replay_sweeps.h"

#include "common/expect.h"

namespace hone::record {
namespace {

ReplayPoint Ok(uint64_t index, double seconds) { return {index, TrialState::kOk, TrialError::kNone, seconds}; }
ReplayPoint Failed(uint64_t index) { return {index, TrialState::kFailed, TrialError::kWrong, 0}; }

ReplaySpace Sweep(std::vector<ReplayPoint> points) {
  ReplaySpace space{"dense(f32[1,8], f32[8,8])", "cpu", "machine", {}, std::move(points)};
  space.templates.push_back({"t", 1, {}, std::nullopt});
  return space;
}

TEST(ReplaySweeps, ALuckyTimeDoesNotStand) {
  const auto sweep = [](double first, double last) {
    return Sweep({Ok(0, first), Ok(1, 20e-6), Ok(2, 20e-6), Ok(3, 20e-6), Ok(4, last)});
  };
  // The last fell into a fast phase once, the first into a slow one.
  const auto merged = Must(MiddleOf({sweep(10e-6, 5e-6), sweep(10e-6, 12e-6), sweep(30e-6, 12e-6)}));
  EXPECT_DOUBLE_EQ(merged.points[0].median, 10e-6);
  EXPECT_DOUBLE_EQ(merged.points[1].median, 20e-6);
  EXPECT_DOUBLE_EQ(merged.points[4].median, 12e-6);
}

TEST(ReplaySweeps, ASweepOfASlowHourCountsAsMuchAsTheOthers) {
  const ReplaySpace quiet = Sweep({Ok(0, 10e-6), Ok(1, 20e-6), Ok(2, 40e-6)});
  const ReplaySpace slow =
      Sweep({Ok(0, 20e-6), Ok(1, 40e-6), Ok(2, 20e-6)});  // twice as slow; 2 is better than it seemed
  const auto merged = Must(MiddleOf({quiet, slow}));
  EXPECT_DOUBLE_EQ(merged.points[0].median, 10e-6);
  EXPECT_DOUBLE_EQ(merged.points[1].median, 20e-6);
  EXPECT_DOUBLE_EQ(merged.points[2].median, 10e-6);
}

TEST(ReplaySweeps, OneFailureIsOutvotedTwoStand) {
  const auto merged = Must(
      MiddleOf({Sweep({Ok(0, 1e-6), Failed(1)}), Sweep({Failed(0), Failed(1)}), Sweep({Ok(0, 1e-6), Ok(1, 1e-6)})}));
  EXPECT_EQ(merged.points[0].state, TrialState::kOk);
  EXPECT_EQ(merged.points[1].state, TrialState::kFailed);
  EXPECT_EQ(merged.points[1].error, TrialError::kWrong);
}

TEST(ReplaySweeps, OtherSpacesAndMissingPointsAreNamed) {
  EXPECT_FALSE(MiddleOf({}).ok());
  ReplaySpace other = Sweep({Ok(0, 1e-6)});
  other.workload = "dense(f32[1,8], f32[9,8])";
  EXPECT_THAT(MiddleOf({Sweep({Ok(0, 1e-6)}), other}).status().message(), HasSubstr("different spaces"));
  const auto lacking = MiddleOf({Sweep({Ok(0, 1e-6), Ok(7, 1e-6)}), Sweep({Ok(0, 1e-6)})});
  EXPECT_THAT(lacking.status().message(), HasSubstr("lacks point 7"));
}

}  // namespace
}  // namespace hone::record
