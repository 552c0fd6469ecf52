// Tuners on measured spaces: the share of the best speed that `auto` finds, and the files themselves.
#include "session/replay.h"

#include "base/file.h"
#include "common/expect.h"
#include "common/replay_text.h"
#include "perf/replay_donors.h"

namespace hone::session {
namespace {

using record::ParseReplay;
using record::ReplaySpace;
using record::ReplayText;

ReplaySpace Load(const std::string& name) { return Must(LoadReplay("tests/replay/" + name + ".replay")); }

// The median over seeds 1 .. 5 of the share after `trials` trials.
double MedianShare(const ReplaySpace& replay, const std::string& tuner, int64_t trials,
                   const std::vector<search::Donor>& donors = {}) {
  ReplayOptions options;
  options.tuner = tuner;
  options.trials = trials;
  options.donors = donors;
  const auto runs = Must(ReplaySeeds(replay, replay.MakeSpace(), options, 5));
  std::vector<double> shares;
  for (const ReplayRun& run : runs) shares.push_back(run.share.back());
  std::sort(shares.begin(), shares.end());
  return shares[shares.size() / 2];
}

class Measured : public testing::TestWithParam<const char*> {};

TEST_P(Measured, AutoFindsNearlyTheBest) {
  const ReplaySpace replay = Load(GetParam());
  EXPECT_GE(MedianShare(replay, "auto", 16), 0.95);
  EXPECT_GE(MedianShare(replay, "auto", 32), 0.97);
}

TEST_P(Measured, AutoIsNoWorseThanRandom) {
  const ReplaySpace replay = Load(GetParam());
  EXPECT_GE(MedianShare(replay, "auto", 24) + 0.02, MedianShare(replay, "random", 24));
}

// The number of points requested at a time does not matter, even to tuners that plan rounds, whose first plans lack the
// default.
TEST_P(Measured, EqualSeedsTryEqualPoints) {
  const ReplaySpace replay = Load(GetParam());
  const search::TaskSpace space = replay.MakeSpace();
  for (const char* tuner : {"auto", "annealing", "ga"}) {
    ReplayOptions options;
    options.tuner = tuner;
    options.trials = 40;
    for (options.seed = 1; options.seed <= 4; ++options.seed) {
      options.batch = 16;
      const ReplayRun together = Must(Replay(replay, space, options));
      options.batch = 1;
      EXPECT_EQ(Must(Replay(replay, space, options)).tried, together.tried) << tuner << ", seed " << options.seed;
    }
  }
}

TEST_P(Measured, TheFileReadsBackAsItWasWritten) {
  EXPECT_EQ(ReplayText(Load(GetParam())), Must(ReadFile(std::string("tests/replay/") + GetParam() + ".replay")));
}

INSTANTIATE_TEST_SUITE_P(Spaces, Measured, testing::Values("conv3x3_48x40", "depthwise_144x40", "dense_768x1008"));

// Winograd more than doubles the speed there, and the default uses the other template.
TEST(Replay, AutoChoosesTheTemplateAtOnce) { EXPECT_GE(MedianShare(Load("conv3x3_48x40"), "auto", 8), 0.85); }

TEST(Replay, TrialsBehindTheBestArePruned) {
  const ReplaySpace replay = Load("dense_768x1008");
  ReplayOptions options;
  options.tuner = "grid";
  options.trials = 1000;
  ReplayRun run = Must(Replay(replay, replay.MakeSpace(), options));
  EXPECT_EQ(run.tried.size(), replay.points.size());  // all points and no others
  EXPECT_DOUBLE_EQ(run.share.back(), 1);
  EXPECT_EQ(TrialsTo(run, 2), static_cast<int64_t>(replay.points.size()) + 1);
  // More than twice the best before it: pruned, with a bound as its time. The others are as measured.
  double best = 0;
  int pruned = 0;
  ASSERT_EQ(run.trials.size(), run.tried.size());
  for (const Outcome& trial : run.trials) {
    const record::ReplayPoint& point = *replay.Find(trial.config.index);
    const bool behind = point.state == TrialState::kOk && best > 0 && point.median > 2 * best;
    EXPECT_EQ(trial.state, behind ? TrialState::kPruned : point.state) << trial.config.Text();
    EXPECT_EQ(trial.median, point.median) << trial.config.Text();
    pruned += behind;
    if (trial.state == TrialState::kOk && (best == 0 || trial.median < best)) best = trial.median;
  }
  EXPECT_GT(pruned, 0);
  options.prune_factor = 0;
  run = Must(Replay(replay, replay.MakeSpace(), options));
  for (const Outcome& trial : run.trials) EXPECT_EQ(trial.state, replay.Find(trial.config.index)->state);
}

TEST(Replay, ATunerIsToldWhatAJobForTheTargetTellsIt) {
  ReplaySpace replay = Load("dense_768x1008");
  const auto host = Must(ReplayContext(replay));
  EXPECT_EQ(host.group, 0);
  EXPECT_FALSE(host.defaults.empty());
  EXPECT_TRUE(host.loops && host.estimate);
  replay.target = "cuda -arch=sm_90 -multiprocessors=80";
  const auto cuda = Must(ReplayContext(replay));
  EXPECT_EQ(cuda.group, 16) << "as many as are compiled at a time";
}

TEST(Replay, ASpaceOfWhichNothingWorksIsRefused) {
  ReplaySpace replay = Load("dense_768x1008");
  for (record::ReplayPoint& p : replay.points) p = {p.index, TrialState::kFailed, TrialError::kCrash, 0};
  EXPECT_THAT(Replay(replay, replay.MakeSpace(), {}).status().message(), HasSubstr("nothing to find"));
}

TEST(Replay, LoopsAreRemembered) {
  int made = 0;
  const search::LoopProgram loops =
      RememberLoops([&made](const Workload&, const Config& config) -> Result<ir::Function> {
        ++made;
        if (config.index == 2) return Status::Invalid("no loops");
        return ir::Function{"f" + config.IndexText(), {}, {}};
      });
  Config one, two;
  one.template_name = two.template_name = "t";
  one.index = 1, two.index = 2;
  one.values = {{"a", KnobKind::kOther, {1}, {}}};
  two.values = {{"a", KnobKind::kOther, {2}, {}}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(loops(Workload(), one)->name, "f1");
    EXPECT_FALSE(loops(Workload(), two).ok());
  }
  EXPECT_EQ(made, 2);
}

const char kText[] =
    "hone-replay 1\nworkload dense(f32[1,8], f32[8,8])\ntarget cpu\nmachine here\ntemplate t 3 1\n"
    "knob a number 1 2 4\nknob s split -1,1 -1,2\nknob w word x y\npoints 3\n1 12.5\n2 >99\n1 !crash\nend\n";

TEST(ReplayFile, SaysWhatItHolds) {
  const auto replay = Must(ParseReplay(kText, "f"));
  EXPECT_EQ(replay.Defaults(), std::vector<PointIndex>{1});
  EXPECT_DOUBLE_EQ(replay.best(), 12.5e-6);
  ASSERT_NE(replay.Find(3), nullptr);
  EXPECT_EQ(replay.Find(3)->state, TrialState::kPruned);
  EXPECT_EQ(replay.Find(4)->error, TrialError::kCrash);
  EXPECT_EQ(replay.Find(2), nullptr);
  const search::TaskSpace space = replay.MakeSpace();
  EXPECT_EQ(space.size(), 12U);
  EXPECT_EQ(*space.LegalIndices(100), (std::vector<PointIndex>{1, 3, 4}));
  EXPECT_EQ(space.At(4).Text(), "t a=2 s=[-1,2] w=x");
  EXPECT_EQ(ReplayText(replay), kText);
}

// 2^70 points; the default and another one are beyond 2^64.
TEST(ReplayFile, ASpaceMayHaveMoreThan2To64Points) {
  const PointIndex far = (PointIndex{3} << 68) + 2;  // the last knob and the first
  ReplaySpace replay;
  replay.workload = "dense(f32[1,8], f32[8,8])";
  replay.target = "cpu";
  replay.machine = "here";
  replay.templates = {{"t", 1, {}, far}};
  for (int k = 0; k < 35; ++k) {
    replay.templates[0].knobs.push_back(search::Knob::Choice("k" + std::to_string(k), {0, 1, 2, 3}));
  }
  for (const PointIndex index : {PointIndex{5}, far}) {
    replay.points.push_back({index, TrialState::kOk, TrialError::kNone, 1e-3});
  }
  const std::string text = ReplayText(replay);
  const auto read = ParseReplay(text, "f");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(ReplayText(*read), text);
  EXPECT_EQ(read->Defaults(), std::vector<PointIndex>{far});
  EXPECT_EQ(read->MakeSpace().At(far).Number("k34"), 3);
  EXPECT_NE(read->Find(far), nullptr);
  EXPECT_EQ(read->Find(far & UINT64_MAX), nullptr);
  replay.templates.push_back(replay.templates[0]);  // 2^140 points
  for (int k = 35; k < 70; ++k) {
    replay.templates[1].knobs.push_back(search::Knob::Choice("k" + std::to_string(k), {0, 1, 2, 3}));
  }
  EXPECT_EQ(ParseReplay(ReplayText(replay), "f").status().message(), "f:112: the space is too large");
}

TEST(ReplayFile, RefusesWhatIsDamagedWithItsLine) {
  const auto changed = [](const std::string& from, const std::string& to) {
    std::string text = kText;
    text.replace(text.find(from), from.size(), to);
    const auto replay = ParseReplay(text, "f");
    return replay.ok() ? std::string("ok") : replay.status().message();
  };
  EXPECT_THAT(changed("hone-replay 1", "hone-replay 9"), HasSubstr("version 9"));
  EXPECT_EQ(changed("2 >99", "0 >99"), "f:11: indices must ascend");
  EXPECT_EQ(changed("2 >99", "-1 >99"), "f:11: `-1` is not a number");
  EXPECT_EQ(changed("2 >99", "2 nan"), "f:11: `nan` is not a time in microseconds");
  EXPECT_EQ(changed("2 >99", "90 >99"), "f:11: index 91 is not in the space of 12 points");
  EXPECT_EQ(changed("points 3", "points 4"), "f:13: expected `GAP TIME`");
  EXPECT_EQ(changed("end\n", ""), "f:13: the file ends too early: a line `end` is missing");
  EXPECT_EQ(changed("knob w word", "knob a word"), "f:8: a second knob `a`");
  EXPECT_EQ(changed("number 1 2 4", "sort 1 2 4"), "f:6: unknown kind of knob `sort`");
  EXPECT_EQ(changed("1 !crash", "1 !fire").substr(0, 5), "f:12:");
}

}  // namespace
}  // namespace hone::session
