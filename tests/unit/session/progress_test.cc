#include "session/progress.h"

#include "base/file.h"
#include "base/text.h"
#include "common/expect.h"
#include "fake/fake_clock.h"

namespace hone::session {
namespace {

void AddTrials(History* history, int count) {
  for (int i = 0; i < count; ++i) history->Add({.state = TrialState::kOk, .median = 1e-3});
}

// Progress is also updated while waiting for the machine, before there is a new trial.
TEST(Progress, AResumedJobThatHadToWaitCountsItsOwnTrials) {
  const auto dir = Must(TempDir::Create());
  FakeClock clock;
  History history("here");
  AddTrials(&history, 10);
  ProgressOptions options{.path = dir.Join("t.progress.json")};
  options.budget.trials = 50;
  Progress progress(options, history.count(), &clock);
  clock.Advance(5);
  ASSERT_TRUE(progress.Update(history, 0).ok());
  AddTrials(&history, 10);
  clock.Advance(5);
  const std::string line = progress.Line(history, 0);
  EXPECT_TRUE(StartsWith(line, "20/50 trials, ")) << line;
  EXPECT_TRUE(EndsWith(line, ", 1.0/s")) << line;
  EXPECT_NE(line.find(" left"), std::string::npos) << line;
  EXPECT_EQ(progress.Line(history, 0, /*ended=*/true).find(" left"), std::string::npos);
}

}  // namespace
}  // namespace hone::session
