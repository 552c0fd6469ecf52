// Seeded rounds of kills with invented times: whatever is killed, whenever, the end is exactly that of a run that
// nothing disturbed.
#include <signal.h>

#include "rounds.h"

namespace hone {
namespace {

TEST_F(FaultFolder, InventedTimesEndTheSameWhateverIsKilledWhenever) {
  constexpr uint64_t kSeed = 11;
  InventTimes(kSeed);
  WritePipeline("one", 40);
  ASSERT_TRUE(Plan().status.ok());
  Undisturbed(true);
  Rng rng(FaultSeed());
  const std::vector<Blow> blows = {{"", SIGKILL},     {kTuner, SIGKILL}, {"", SIGINT},     {"", SIGTERM},
                                   {kTuner, SIGTERM}, {kTuner, SIGINT},  {kTuner, SIGHUP}, {"", SIGHUP}};
  for (int round = 0; round < FaultRounds() && !HasFailure(); ++round) {
    InventTimes(kSeed, 0.003);
    std::string story = "round " + std::to_string(round) + ": ";
    for (int i = static_cast<int>(rng.UniformInt(3)); i >= 0; --i) {
      const Blow& blow = blows[rng.UniformInt(blows.size())];
      story += blow.Text() + "; ";
      SCOPED_TRACE(story);
      Disturb(blow, 0.5, &rng);
      // At times the next Ninja comes while the orphan of the last is still at work.
      if (rng.UniformInt(2) == 0) ExpectNothingLost();
    }
    SCOPED_TRACE(story);
    InventTimes(kSeed);
    ExpectTheSameInTheEnd();
    RemoveResults();
  }
  EXPECT_GT(halfway_, 0) << "no blow fell while a task was tuned: the rounds showed nothing";
}

}  // namespace
}  // namespace hone
