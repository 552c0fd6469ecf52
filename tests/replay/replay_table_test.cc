// The table of replays, worked out by hand.
#include "session/replay.h"

#include <gtest/gtest.h>

namespace hone::session {
namespace {

ReplayRun RunOf(const std::vector<double>& share) {
  ReplayRun run;
  run.share = share;
  run.tried.resize(share.size());
  run.tuner_seconds = 0.006;
  return run;
}

TEST(ReplayTable, HasMarksUpToTheTrials) {
  EXPECT_EQ(ReplayTableHead(10, "tuner"),
            "| tuner | median 4 | median 8 | worst 4 | worst 8 | to 95 % | to 95 %, 3 of 4 | ms a trial |\n"
            "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
}

TEST(ReplayTable, MedianWorstAndTrialsToTheGoal) {
  const std::vector<ReplayRun> runs = {
      RunOf({0.5, 0.6, 0.7, 0.8, 0.9, 0.96, 0.97, 1}),  // 95 % after 6
      RunOf({0.2, 0.3, 0.4, 0.5, 0.5, 0.5, 0.6, 0.7}),  // never: one more than its trials
      RunOf({0.1, 0.95, 0.95, 0.95, 0.95, 1, 1, 1}),    // 95 % after 2
  };
  // After 4: 80, 50 and 95; after 8: 100, 70 and 100. 18 ms in the tuner, 24 trials.
  EXPECT_EQ(ReplayTableRow("t", runs, 8), "| t | 80.0 | 100.0 | 50.0 | 70.0 | 6 | 9 | 0.75 |\n");
}

// A small space may be exhausted before a mark: the result so far counts.
TEST(ReplayTable, ARunThatEndedEarlyCountsAtAllMarks) {
  EXPECT_EQ(ReplayTableRow("t", {RunOf({0.5, 1})}, 4), "| t | 100.0 | 100.0 | 2 | 2 | 3.00 |\n");
}

}  // namespace
}  // namespace hone::session
