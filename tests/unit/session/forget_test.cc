// Failures that were this machine's are forgotten, and the next run makes up for them (record/forget.h).
#include "record/forget.h"

#include <fmt/format.h>

#include "unit/session/tune_session_fixture.h"

namespace hone::session {
namespace {

constexpr char kFull[] = "no space left on device";

class ForgetAndGoOn : public TuneSessionTest {
 protected:
  std::string Path(const std::string& name) const { return dir_.Join(name + ".db"); }
  std::unique_ptr<record::Store> Open(const std::string& name) const {
    return Must(record::Store::OpenForWriting(Path(name), {"t", "w", "cpu", {{"fake", 1}}}));
  }
  SessionResult Tune(const std::string& name) {
    const auto store = Open(name);
    SessionWorld world = World(nullptr);
    world.store = store.get();
    return Must(RunIn(world));
  }
  // The candidates from number `begin` to `end`, counted from 0, do not compile: the disk is full.
  void FillDisk(int begin, int end) {
    hooks_.built = [=, number = 0](std::vector<measure::BuildResult>* results) mutable {
      for (measure::BuildResult& result : *results) {
        if (const int i = number++; i < begin || i >= end) continue;
        result.ok = false;
        result.error = TrialError::kCompile;
        result.error_text = kFull;
      }
    };
  }
  void Forget(const std::string& name, size_t expected) {
    std::vector<int64_t> ordinals;
    const auto trials = Must(record::FindForgettable(Path(name), TrialError::kCompile, 0));
    for (const record::Trial& trial : trials) ordinals.push_back(trial.ordinal);
    EXPECT_EQ(ordinals.size(), expected);
    Must(record::RemoveTrials(Path(name), ordinals));
  }

  // A line per trial, in order.
  std::vector<std::string> Lines(const std::string& name) const {
    const auto store = Open(name);
    EXPECT_EQ(Must(store->Verify()), std::vector<std::string>());
    std::vector<std::string> lines;
    const auto trials = Must(store->Trials());
    for (const record::Trial& t : trials) {
      const Outcome& o = t.outcome;
      lines.push_back(fmt::format("{} {} {} {} {} {}", o.config.Text(), TrialStateName(o.state), o.error_text, o.median,
                                  o.samples.size(), o.proposer));
    }
    return lines;
  }
  std::vector<record::Closing> Closings(const std::string& name) const {
    std::vector<record::Closing> closings;
    const auto sessions = Must(Open(name)->Sessions());
    for (const record::Session& session : sessions) {
      if (const auto closing = record::Closing::FromSettings(session.settings)) closings.push_back(*closing);
    }
    return closings;
  }

  TempDir dir_ = Must(TempDir::Create());
};

// The disk was full until the end: what is left is the beginning of an undisturbed run, and every tuner goes on there.
class EveryTunerForgets : public ForgetAndGoOn, public testing::WithParamInterface<std::string> {};

TEST_P(EveryTunerForgets, TheLastStretchAndEndsAsIfUndisturbed) {
  options_.tuner = GetParam();
  world_.fail_share = 0;
  // Without the fixture's rule: rejected points stay, and a tuner that learns proposes others while everything fails.
  search::Space space("fake");
  space.Add(search::Knob::Choice("a", UpTo(12)));
  space.Add(search::Knob::Choice("b", UpTo(10)));
  space_ = search::TaskSpace();
  space_.Add(std::move(space));
  EXPECT_EQ(Tune("undisturbed").new_trials, 50);
  const std::vector<std::string> undisturbed = Lines("undisturbed");

  FillDisk(20, 1000);
  EXPECT_EQ(Tune("t").reason, StopReason::kTrials);
  hooks_.built = {};
  EXPECT_EQ(Tune("t").new_trials, 0) << "the verdicts stand";
  EXPECT_NE(Lines("t"), undisturbed);
  Forget("t", 30);
  EXPECT_TRUE(Closings("t").empty());

  EXPECT_EQ(Tune("t").new_trials, 30);
  EXPECT_EQ(Lines("t"), undisturbed);
  ASSERT_EQ(Closings("t").size(), 1u) << "the finalists were measured again";
  EXPECT_EQ(Closings("t")[0].trials, 50);
}

INSTANTIATE_TEST_SUITE_P(Tuners, EveryTunerForgets, testing::Values("annealing", "auto", "ga", "grid", "random"),
                         [](const auto& info) { return info.param; });

// Later trials stay, so the order differs, and tuners that learn went another way: those that do not end with the same
// trials. Here candidates also fail by their own fault, and fail again.
TEST_F(ForgetAndGoOn, AStretchInTheMiddleIsMadeUpFor) {
  world_.prune_factor = 0;  // pruning depends on what was tried before, and finalists get more samples each time
  options_.finalists = 0;
  for (const char* tuner : {"grid", "random"}) {
    options_.tuner = tuner;
    const std::string whole = std::string(tuner) + "-undisturbed";
    Tune(whole);
    FillDisk(10, 30);
    Tune(tuner);
    hooks_.built = {};
    std::vector<std::string> before = Lines(tuner), lines = Lines(whole);
    const auto compile = [](const std::string& line) {
      return line.find(kFull) != std::string::npos || line.find("not compile") != std::string::npos;
    };
    const auto failures = std::ranges::count_if(before, compile);
    EXPECT_GT(failures, 20);
    Forget(tuner, static_cast<size_t>(failures));
    EXPECT_EQ(Tune(tuner).new_trials, failures) << tuner;
    std::vector<std::string> after = Lines(tuner);
    std::ranges::sort(after);
    std::ranges::sort(lines);
    EXPECT_EQ(after, lines) << tuner;
    EXPECT_GT(std::ranges::count_if(after, compile), 0) << "by their own fault";
  }
}

TEST_F(ForgetAndGoOn, AJobThatStoppedEarlyGoesOn) {
  options_.budget.early_stop = 12;
  FillDisk(10, 1000);
  EXPECT_EQ(Tune("t").reason, StopReason::kEarlyStop);
  hooks_.built = {};
  EXPECT_EQ(Tune("t").new_trials, 0);
  const auto trials = Must(record::FindForgettable(Path("t"), TrialError::kCompile, 0));
  Forget("t", trials.size());
  EXPECT_GT(Tune("t").new_trials, 0);
}

}  // namespace
}  // namespace hone::session
