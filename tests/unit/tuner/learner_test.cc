// Tuners that learn, on surfaces with a known best point, and on ones where there is nothing to learn.
#include "common/xgb.h"
#include "search/tuner/anneal.h"
#include "search/tuner/ga_tuner.h"
#include "search/tuner/plan_tuner.h"
#include "search/tuner/tuner.h"
#include "search/tuner/xgb_tuner.h"
#include "surface.h"

namespace hone::search {
namespace {

std::unique_ptr<Tuner> Make(const std::string& name, const TaskSpace& space, uint64_t seed,
                            const TunerContext& context = SurfaceContext()) {
  return Must(MakeTuner(name, space, seed, context));
}

bool IsXgb(const std::string& name) { return name.starts_with("xgb") || name == "ansor"; }

// Trials until a point within 15 % of the best, median of 5 seeds; at most `most`.
int64_t TrialsToGood(const std::string& name, size_t most) {
  const TaskSpace space = SurfaceSpace();
  std::vector<int64_t> needed;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const std::vector<PointIndex> all = Propose(Make(name, space, seed).get(), space, OnSurface, most);
    const auto good = [&](PointIndex index) { return SurfaceSeconds(space.At(index)) < 1.15e-3; };
    needed.push_back(std::find_if(all.begin(), all.end(), good) - all.begin() + 1);
  }
  std::sort(needed.begin(), needed.end());
  return needed[2];
}

class EveryTuner : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const std::string why = IsXgb(GetParam()) ? NoXgb() : ""; !why.empty()) GTEST_SKIP() << why;
  }
};
class Learner : public EveryTuner {};

// By the formula, 6 of the 2,816 legal points are within 15 %: a * b = 18 in two ways, c from 5 to 7, d = 2. For draws
// without repetition, the median is where (1 - n / 2816)^6 is a half: n = 307.
TEST_P(Learner, FindsTheBestInAThirdOfRandomsTrials) { EXPECT_LE(TrialsToGood(GetParam(), 110), 307 / 3); }

TEST_P(EveryTuner, ResumesAfterEveryTrialAsIfNothingHadHappened) {
  const TaskSpace space = SurfaceSpace();
  // Two learnt plans; with loop features, which cost more, slightly more than one.
  const int trials = GetParam().find("knob") != std::string::npos || !IsXgb(GetParam()) ? 36 : 20;
  const std::vector<PointIndex> all = Propose(Make(GetParam(), space, 3).get(), space, OnSurface, trials);
  ASSERT_EQ(all.size(), static_cast<size_t>(trials));
  EXPECT_EQ(IndexSet(all.begin(), all.end()).size(), all.size());
  for (const PointIndex index : all) EXPECT_FALSE(space.Reject(index));
  for (int done = 0; done <= trials; ++done) {
    const auto tuner = Make(GetParam(), space, 3);
    EXPECT_EQ(Propose(tuner.get(), space, OnSurface, trials, 16, {all.begin(), all.begin() + done}), all) << done;
  }
}

// It may contain what this tuner would propose.
TEST_P(EveryTuner, GoesOnFromAnotherTunersHistory) {
  const TaskSpace space = SurfaceSpace();
  std::vector<PointIndex> history;
  for (uint64_t i = 0; history.size() < 22; i += 37) {
    if (!space.Reject(i)) history.push_back(i);
  }
  const auto tuner = Make(GetParam(), space, 1);
  EXPECT_TRUE(tuner->NextBatch(0).empty());
  const std::vector<PointIndex> all = Propose(tuner.get(), space, OnSurface, 60, 16, history);
  EXPECT_EQ(IndexSet(all.begin(), all.end()).size(), 60u);
}

TEST_P(EveryTuner, DoesNotDependOnTheBatchSizeOrTheThreads) {
  const TaskSpace space = SurfaceSpace();
  TunerContext context = SurfaceContext();
  const std::vector<PointIndex> all = Propose(Make(GetParam(), space, 5, context).get(), space, OnSurface, 50);
  EXPECT_EQ(Propose(Make(GetParam(), space, 5, context).get(), space, OnSurface, 50, 1), all);
  for (const int threads : {2, 4}) {
    context.threads = threads;
    EXPECT_EQ(Propose(Make(GetParam(), space, 5, context).get(), space, OnSurface, 50, 7), all) << threads;
  }
  const bool seeded = GetParam() != "grid";
  EXPECT_EQ(Propose(Make(GetParam(), space, 6).get(), space, OnSurface, 50) != all, seeded);
}

// The times contain nothing to learn, but every legal point is still tried once.
TEST_P(EveryTuner, GoesOnWhereTimesSayNothing) {
  const TaskSpace space = SmallSpace();
  int trial = 0;
  const Measure nonsense = [&](const Config& config) {
    const double times[] = {std::nan(""), std::numeric_limits<double>::infinity(), 0, -1, 1e-3, 1e300, 1e-300};
    return OkOutcome(config, times[trial++ % 7]);
  };
  const Measure pruned = [&](const Config& config) {
    Outcome o = OkOutcome(config, 1e-3);
    if (trial++ > 0) o.state = TrialState::kPruned;
    return o;
  };
  for (const Measure& measure : {Measure([](const Config& c) { return Failed(c, TrialError::kCompile); }),
                                 Measure([](const Config& c) { return Failed(c, TrialError::kDevice); }),
                                 Measure(EqualTimes), nonsense, pruned}) {
    trial = 0;
    std::vector<PointIndex> all = Propose(Make(GetParam(), space, 1).get(), space, measure, 100);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, LegalOfSmall());
  }
}

TEST_P(EveryTuner, OnePointAndNone) {
  const TaskSpace one = TaskOf(Space("one"));
  EXPECT_EQ(Propose(Make(GetParam(), one, 1).get(), one, EqualTimes, 10), std::vector<PointIndex>{0});
  Space never("never"), no_value("no_value");
  never.Add(Knob::Choice("a", {1, 2, 3}));
  never.AddRule({"never", [](const Config&) -> std::optional<std::string> { return "never"; }});
  no_value.Add(Knob::Choice("a", {}));
  for (const TaskSpace& none : {TaskOf(std::move(never)), TaskOf(std::move(no_value)), TaskSpace()}) {
    EXPECT_TRUE(Make(GetParam(), none, 1)->NextBatch(16).empty());
  }
}

const auto kLearners = testing::Values("auto", "ga", "annealing", "xgb_knob", "xgb_rank_knob", "xgb_rank_binary_knob",
                                       "xgb_itervar", "xgb_rank_curve");
INSTANTIATE_TEST_SUITE_P(Tuners, Learner, kLearners, [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Tuners, EveryTuner, kLearners, [](const auto& info) { return info.param; });
INSTANTIATE_TEST_SUITE_P(Others, EveryTuner, testing::Values("random", "grid", "ansor"),
                         [](const auto& info) { return info.param; });

class XgbTunerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = NoXgb(); !why.empty()) GTEST_SKIP() << why;
  }
  const TaskSpace space_ = SurfaceSpace();
};

TEST_F(XgbTunerTest, AllNamesOfAutotvmAreThere) {
  for (const char* loss : {"xgb", "xgb_rank", "xgb_rank_binary"}) {
    for (const char* features : {"", "_knob", "_itervar", "_curve"}) {
      for (const bool like : {false, true}) {
        TunerContext context = SurfaceContext();
        context.like_autotvm = like;
        const std::string name = std::string(loss) + features;
        const auto tuner = Make(name, space_, 1, context);
        EXPECT_EQ(tuner->name(), name);
        EXPECT_EQ(tuner->NextBatch(100).size(), like ? 64u : 16u) << name;
      }
    }
  }
}

TEST_F(XgbTunerTest, LoopFeaturesNeedLoops) {
  const Status status = MakeTuner("xgb_itervar", space_, 1).status();
  EXPECT_EQ(status.kind(), StatusKind::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("_knob"));
  EXPECT_TRUE(MakeTuner("xgb", space_, 1).ok());
}

// A point whose loops cannot be made only has a row of missing values.
TEST_F(XgbTunerTest, PointsThatCannotBeLoweredAreBorne) {
  TunerContext context;
  int64_t bad = 3;
  context.loops = [&](const Workload& w, const Config& config) -> Result<ir::Function> {
    if (config.Number("d") == bad) return Status::Unsupported("no such d");
    return SurfaceLoops(w, config);
  };
  EXPECT_EQ(Propose(Make("xgb_itervar", space_, 1, context).get(), space_, OnSurface, 40).size(), 40u);
}

// If no loops can be made at all (when replaying a space of another version), the tuner reports that at once; names
// without features then use those of knobs.
TEST_F(XgbTunerTest, LoopsThatCannotBeMadeAreRefused) {
  TunerContext context;
  context.loops = [](const Workload&, const Config&) -> Result<ir::Function> { return Status::Invalid("12 knobs"); };
  auto tuner = MakeTuner("xgb_curve", space_, 1, context);
  EXPECT_THAT(tuner.status().message(), HasSubstr("12 knobs"));
  context.like_autotvm = true;
  EXPECT_TRUE(MakeTuner("xgb_rank", space_, 1, context).ok());
}

// Scaled-down constants of AutoTVM, so that several plans are made; its walkers continue from plan to plan.
XgbTunerOptions SmallAutotvm(Loss loss) {
  XgbTunerOptions options = XgbTunerOptions::LikeAutotvm(loss, FeatureKind::kKnob);
  options.plan_size = 8;
  options.anneal.iterations = 40;
  options.anneal.walkers = 8;
  options.model.recall_of = 8;
  return options;
}

TEST_F(XgbTunerTest, WalkersThatGoOnResumeToo) {
  const TunerContext context;
  for (const Loss loss : {Loss::kReg, Loss::kRankBinary}) {
    const auto make = [&] { return XgbTuner(space_, 4, context, SmallAutotvm(loss)); };
    XgbTuner tuner = make();
    const std::vector<PointIndex> all = Propose(&tuner, space_, OnSurface, 30, 8);
    ASSERT_EQ(all.size(), 30u);
    for (int done = 0; done <= 30; ++done) {
      XgbTuner again = make();
      EXPECT_EQ(Propose(&again, space_, OnSurface, 30, 5, {all.begin(), all.begin() + done}), all) << done;
    }
  }
}

Donor SurfaceDonor(const TaskSpace& space, double slower, uint64_t step) {
  return DonorOf(space, step, [&](const Config& c) { return slower * SurfaceSeconds(c); });
}

// Donors of very different speeds, each in its own group: AutoTVM ranks them all in one.
TEST_F(XgbTunerTest, DonorsMakeTheFirstRoundGood) {
  for (const char* name : {"xgb_knob", "xgb_rank_knob", "xgb_itervar"}) {
    TunerContext context = SurfaceContext();
    context.donors = {SurfaceDonor(space_, 1000, 7), SurfaceDonor(space_, 0.01, 11)};
    const std::vector<PointIndex> first = Make(name, space_, 1, context)->NextBatch(8);
    EXPECT_LT(BestSeconds(space_, first, OnSurface), 1.25e-3) << name;
  }
}

TEST_F(XgbTunerTest, FewOrFailedDonorsAreNotUsed) {
  TunerContext failed, few, foreign;
  failed.donors = {SurfaceDonor(space_, 1, 7)};
  for (Outcome& o : failed.donors[0].outcomes) o.state = TrialState::kFailed;
  few.donors = {SurfaceDonor(space_, 1, 7)};
  few.donors[0].outcomes.resize(5);
  foreign.donors = {SurfaceDonor(space_, 1, 7)};
  for (Outcome& o : foreign.donors[0].outcomes) o.config.template_name = "another";
  const std::vector<PointIndex> plain = Make("xgb_knob", space_, 2, {})->NextBatch(16);
  for (const TunerContext& context : {failed, few, foreign}) {
    EXPECT_EQ(Make("xgb_knob", space_, 2, context)->NextBatch(16), plain);
  }
}

TEST_F(XgbTunerTest, ADonorThatMisleadsIsOvercome) {
  TunerContext context{.donors = {SurfaceDonor(space_, 1, 3)}};
  for (Outcome& o : context.donors[0].outcomes) o.median = 1e-6 / o.median;  // slow points were fast there
  const std::vector<PointIndex> all = Propose(Make("xgb_knob", space_, 1, context).get(), space_, OnSurface, 200);
  EXPECT_LT(BestSeconds(space_, all, OnSurface), 1.1e-3);
}

// AutoTVM's annealing drops points with a score below 0, which is half of them with rank losses: its plans run short.
TEST(AnnealTest, NegativeScoresStayInThePlan) {
  const TaskSpace space = SurfaceSpace();
  const Points points(space);
  const auto score = [&](const std::vector<PointIndex>& indices) {
    std::vector<float> scores;
    for (const uint64_t i : indices) scores.push_back(-static_cast<float>(1e3 * SurfaceSeconds(space.At(i))));
    return scores;
  };
  for (const bool scale : {false, true}) {
    Rng rng(1);
    std::vector<PointIndex> walkers;
    AnnealOptions options{.scale_score = scale};
    const std::vector<PointIndex> found = Anneal(points, score, 64, {}, options, &rng, &walkers);
    ASSERT_EQ(found.size(), 64u);
    EXPECT_LT(SurfaceSeconds(space.At(found[0])), 1.001e-3);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end(), [&](uint64_t a, uint64_t b) {
      return SurfaceSeconds(space.At(a)) < SurfaceSeconds(space.At(b));
    }));
    EXPECT_EQ(walkers.size(), 128u);
  }
}

TEST(AnnealTest, KnownPointsAreLeftOut) {
  const TaskSpace space = SurfaceSpace();
  const Points points(space);
  const auto score = [](const std::vector<PointIndex>& indices) {
    return std::vector<float>(indices.begin(), indices.end());
  };
  IndexSet known;
  const std::vector<PointIndex> top = BestOf(*points.legal(), score, 10, known);
  EXPECT_EQ(top[0], points.legal()->back());
  known.insert(top.begin(), top.end());
  for (const PointIndex index : BestOf(*points.legal(), score, 10, known)) EXPECT_LT(index, top.back());
}

TEST(AnnealTest, DiversePicksShareFewKnobValues) {
  const TaskSpace space = SurfaceSpace();
  const Points points(space);
  const std::vector<PointIndex> candidates(points.legal()->begin(), points.legal()->begin() + 64);
  const auto values = [&](const std::vector<PointIndex>& picked) {
    std::set<std::pair<size_t, size_t>> used;
    for (const PointIndex index : picked) {
      const std::vector<size_t> digits = space.spaces()[0].Digits(index);
      for (size_t k = 0; k < digits.size(); ++k) used.emplace(k, digits[k]);
    }
    return used.size();
  };
  const std::vector<PointIndex> picked = PickDiverse(space, candidates, 8, 1);
  EXPECT_EQ(picked.size(), 8u);
  EXPECT_EQ(picked[0], candidates[0]);
  EXPECT_GT(values(picked), values({candidates.begin(), candidates.begin() + 8}));
}

TEST(PointsTest, DrawsAndWalksAreLegalAndNew) {
  const TaskSpace space = SurfaceSpace();
  for (const uint64_t limit : {Points::kEnumerateLimit, uint64_t{10}}) {
    const Points points(space, limit);
    EXPECT_EQ(points.legal().has_value(), limit > 10);
    Rng rng(1);
    const std::vector<PointIndex> drawn = points.DrawNew(100, {}, {}, &rng);
    const IndexSet known(drawn.begin(), drawn.end());
    EXPECT_EQ(known.size(), 100u);
    const std::vector<PointIndex> rest = points.DrawNew(100000, known, {}, &rng);
    EXPECT_EQ(rest.size() + 100, space.LegalIndices(1 << 20)->size());
    for (const PointIndex index : rest) EXPECT_FALSE(known.count(index));
    for (const PointIndex index : drawn) {
      EXPECT_TRUE(points.Legal(index));
      const std::vector<size_t> a = space.spaces()[0].Digits(index);
      EXPECT_EQ(space.spaces()[0].IndexOf(a), index);
      const PointIndex next = points.Walk(index, &rng);
      EXPECT_TRUE(points.Legal(next));
      EXPECT_NE(next, index);
      const std::vector<size_t> b = space.spaces()[0].Digits(next);
      int changed = 0;
      for (size_t k = 0; k < a.size(); ++k) changed += a[k] != b[k];
      EXPECT_EQ(changed, 1);
    }
  }
}

// 2 points of one template and 500 of another: both templates are drawn equally often.
TEST(PointsTest, ATemplateOfFewPointsIsDrawnAsOften) {
  const std::vector<int64_t> many = Numbers(0, 500);
  Space large("large"), small("small");
  large.Add(Knob::Choice("n", many));
  small.Add(Knob::Choice("n", {1, 2}));
  TaskSpace space;
  space.Add(std::move(large));
  space.Add(std::move(small));
  const Points points(space);
  int of_small = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Rng rng(seed);
    of_small += points.DrawNew(1, {}, {}, &rng)[0] >= 500;
  }
  EXPECT_GT(of_small, 30);  // 50 expected; were all points as likely, 0 or 1
  EXPECT_LT(of_small, 70);
  Rng rng(1);
  EXPECT_EQ(points.DrawNew(1000, {}, {}, &rng).size(), 502u);
}

TEST(SpeedSharesTest, FailuresAndNonsenseAreWorthNothing) {
  std::vector<Outcome> outcomes;
  for (const double seconds : {2.0, 1.0, 4.0, std::nan(""), 0.0, 8.0, 0.5}) outcomes.push_back(OkOutcome({}, seconds));
  outcomes[5].state = TrialState::kPruned;
  outcomes[6].state = TrialState::kFailed;
  EXPECT_EQ(SpeedShares(outcomes), (std::vector<float>{0.5, 1, 0.25, 0, 0, 0.125, 0}));
}

// Unlike AutoTVM's, GA measures nothing twice, even when its population has converged.
TEST(GaTunerTest, NothingTwice) {
  const TaskSpace space = SurfaceSpace();
  GaTuner tuner(space, 1, GaOptions{.population = 8, .elites = 2, .newcomers = 0, .mutation = 0.0});
  const std::vector<PointIndex> all = Propose(&tuner, space, OnSurface, 400, 8);
  EXPECT_EQ(IndexSet(all.begin(), all.end()).size(), 400u);
}

}  // namespace
}  // namespace hone::search
