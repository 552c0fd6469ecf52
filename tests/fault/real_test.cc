// Seeded rounds of kills of the real tools, the children that compile and measure included. Times differ from run to
// run, so it is candidates and verdicts that are compared: none is lost or done twice, and none is blamed for a kill.
#include <signal.h>

#include <algorithm>

#include "rounds.h"

namespace hone {
namespace {

TEST_F(FaultFolder, RealToolsLoseNoTrialAndBlameNoCandidate) {
  // What a tuner that learns proposes would differ with the times.
  WritePipeline("one", 6, "random");
  WritePipeline("two", 8, "random");
  ASSERT_TRUE(Plan().status.ok());
  Undisturbed(false);
  Rng rng(FaultSeed() + 1);
  const std::vector<Blow> blows = {{kCompiler, SIGKILL}, {kMeasurer, SIGKILL}, {kTuner, SIGKILL},
                                   {"", SIGKILL},        {"", SIGTERM},        {kTuner, SIGINT}};
  const int rounds = std::max(1, FaultRounds() / 5);
  int struck = 0;
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    std::string story = "round " + std::to_string(round) + ": ";
    // Each round a kill of a child, which the tuner survives, and one of something above it.
    for (const Blow& blow : {blows[rng.UniformInt(2)], blows[2 + rng.UniformInt(4)]}) {
      story += blow.Text() + "; ";
      SCOPED_TRACE(story);
      struck += Disturb(blow, 0.7, &rng);
      ExpectNothingLost();
    }
    SCOPED_TRACE(story);
    ExpectTheSameInTheEnd();
    RemoveResults();
  }
  EXPECT_GT(struck, 0) << "no blow fell";
}

}  // namespace
}  // namespace hone
