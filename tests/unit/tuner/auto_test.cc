// The tuner `auto` on invented surfaces: it finds the best point, learns where points fail, uses estimates, and is a
// function of its history.
#include "search/tuner/auto_model.h"
#include "search/tuner/auto_tried.h"
#include "surface.h"

namespace hone::search {
namespace {

// As for GPUs, whose compilers are slow: a group is compiled at once.
TEST(Auto, AGroupIsAsLargeAsTheContextSaysAndAFunctionOfTheHistoryBeforeIt) {
  const TaskSpace space = SurfaceSpace();
  TunerContext context{.group = 16};
  AutoTuner tuner(space, 1, context);
  EXPECT_EQ(tuner.NextBatch(16).size(), 16U);
  EXPECT_TRUE(tuner.NextBatch(16).empty()) << "the next one is planned when this one is known";
  const std::vector<PointIndex> whole = Search(space, OnSurface, 64, 1, context);
  ASSERT_EQ(whole.size(), 64U);
  for (const int kept : {1, 7, 15, 16, 17, 40}) {
    AutoTuner resumed(space, 1, context);
    EXPECT_EQ(Propose(&resumed, space, OnSurface, 64, 16, {whole.begin(), whole.begin() + kept}), whole) << kept;
  }
}

TEST(Auto, FollowsAGoodEstimateFromTheFirstTrial) {
  const TaskSpace space = SurfaceSpace();
  const TunerContext context =
      Estimating([](const Config& config) { return std::log(SurfaceSeconds(config) * 5e9); });  // another unit
  EXPECT_DOUBLE_EQ(BestSeconds(space, Search(space, OnSurface, 4, 1, context), OnSurface), 1e-3);
}

// 65,536 points of equal promise, before any measurement and after equal times: of the last knob's words, only the
// first occurs in the 512 points with the lowest indices.
TEST(Auto, WithoutAnEstimateItLooksAtTheWholeSpace) {
  Space knobs("knobs");
  std::vector<std::string> words;
  for (int w = 0; w < 16; ++w) words.push_back("w" + std::to_string(w));
  for (const char* name : {"a", "b"}) knobs.Add(Knob::Choice(name, Numbers(1, 64)));
  knobs.Add(Knob::Words("c", words));
  const TaskSpace space = TaskOf(std::move(knobs));
  const std::vector<PointIndex> tried = Search(space, EqualTimes, 8);
  ASSERT_EQ(tried.size(), 8U);
  std::set<std::string> first, all;
  for (size_t i = 0; i < tried.size(); ++i) {
    const Config config = space.At(tried[i]);
    if (i < 4) first.insert(config.Word("c"));
    all.insert(config.Word("c"));
  }
  EXPECT_GE(first.size(), 2U);
  EXPECT_GE(all.size(), 4U);
  EXPECT_NE(Search(space, EqualTimes, 8, 2), tried);
}

// The estimate is wrong about `c`, in the opposite direction; measurements must win.
TEST(Auto, CorrectsAnEstimateThatIsWrong) {
  const TaskSpace space = SurfaceSpace();
  const TunerContext context = Estimating([](const Config& config) {
    return std::log(SurfaceSeconds(config)) + 0.2 * static_cast<double>(config.Number("c"));
  });
  EXPECT_LT(BestSeconds(space, Search(space, OnSurface, 96, 1, context), OnSurface), 1.25e-3);
}

// The estimate and the times favour small `a`, so only the rule leads to large ones early: after eight trials each
// group of four has a new value, until none is left.
TEST(Auto, TriesANewValueInEachGroup) {
  Space knobs("knobs");
  knobs.Add(Knob::Choice("a", Numbers(1, 12)));
  for (const char* name : {"b", "c"}) knobs.Add(Knob::Choice(name, Numbers(1, 8)));
  const TaskSpace space = TaskOf(std::move(knobs));
  const TunerContext context = Estimating([](const Config& c) { return 0.5 * static_cast<double>(c.Number("a")); });
  const Measure times = [](const Config& c) {
    return OkOutcome(c, 1e-3 * std::exp(0.5 * static_cast<double>(c.Number("a"))));
  };
  const std::vector<PointIndex> all = Search(space, times, 8 + 4 * 28, 1, context);
  std::set<std::pair<std::string, int64_t>> tried;
  for (size_t begin = 0; begin < all.size() && tried.size() < 28; begin += 4) {
    const size_t before = tried.size();
    for (size_t i = begin; i < begin + 4; ++i) {
      for (const char* name : {"a", "b", "c"}) tried.insert({name, space.At(all[i]).Number(name)});
    }
    EXPECT_GT(tried.size(), begin >= 8 ? before : 0) << "trials " << begin << " to " << begin + 3;
  }
  EXPECT_EQ(tried.size(), 28U);
}

TEST(Auto, BeginsWithTheDefaults) {
  const TaskSpace space = SurfaceSpace();
  TunerContext context{.defaults = {17, 5}};
  const std::vector<PointIndex> tried = Search(space, OnSurface, 4, 1, context);
  EXPECT_EQ(tried[0], 17U);
  EXPECT_EQ(tried[1], 5U);
}

// Half of the space fails; once that is known, few trials are spent there.
TEST(Auto, LearnsWherePointsFail) {
  const TaskSpace space = SurfaceSpace();
  // The estimate makes the failing half look good.
  const TunerContext context = Estimating([](const Config& c) { return c.Number("d") <= 4 ? -1.0 : 0.0; });
  const Measure half = [](const Config& c) { return c.Number("d") <= 4 ? Failed(c) : OkOutcome(c, SurfaceSeconds(c)); };
  const std::vector<PointIndex> tried = Search(space, half, 64, 1, context);
  const auto fails = std::count_if(tried.begin() + 32, tried.end(),
                                   [&](PointIndex index) { return space.At(index).Number("d") <= 4; });
  EXPECT_LE(fails, 12);
}

// As above, but the device fails: that says nothing about the points, and the estimate is still trusted.
TEST(Auto, FailuresOfTheDeviceAreNotThePoints) {
  const TaskSpace space = SurfaceSpace();
  const TunerContext context = Estimating([](const Config& c) { return c.Number("d") <= 4 ? -1.0 : 0.0; });
  const auto promising = [&](TrialError error) {
    const Measure fails = [error](const Config& c) { return Failed(c, error); };
    const std::vector<PointIndex> tried = Search(space, fails, 32, 1, context);
    return std::count_if(tried.begin(), tried.end(), [&](uint64_t i) { return space.At(i).Number("d") <= 4; });
  };
  EXPECT_EQ(promising(TrialError::kDevice), 32);
  EXPECT_LT(promising(TrialError::kCompile), 32);
}

TEST(Auto, ExpectsLessTheLongerItSearches) {
  const TaskSpace space = SurfaceSpace();
  AutoTuner tuner(space, 1, {});
  EXPECT_FALSE(tuner.ExpectedGain().has_value());
  const std::vector<PointIndex> some = Propose(&tuner, space, OnSurface, 16);
  const std::optional<double> early = tuner.ExpectedGain();
  Propose(&tuner, space, OnSurface, 128);
  const std::optional<double> late = tuner.ExpectedGain();
  ASSERT_TRUE(early && late);
  EXPECT_GT(*early, 2 * *late);
  // A function of the history: a tuner that got the whole history at once has the same expectation.
  AutoTuner resumed(space, 1, {});
  Propose(&resumed, space, OnSurface, 16, 16, some);
  EXPECT_EQ(resumed.ExpectedGain(), early);
}

TEST(TriedValues, OfPairsTheShareThatIsNew) {
  Space knobs("knobs");
  for (const char* name : {"a", "b", "c"}) knobs.Add(Knob::Choice(name, {1, 2}));
  const TaskSpace space = TaskOf(std::move(knobs));
  const AutoPoints points = MakeAutoPoints(space, {}, 1, 100, 100);
  TriedValues tried(points);
  tried.Add(0);
  EXPECT_EQ(tried.NewPairs(0), 0);
  EXPECT_TRUE(tried.HasNew(1));
  EXPECT_DOUBLE_EQ(tried.NewPairs(1), 2.0 / 3);  // the first knob's value with each of the others
  tried.Add(7);
  EXPECT_FALSE(tried.HasNew(1));
  EXPECT_DOUBLE_EQ(tried.NewPairs(1), 2.0 / 3);
  tried.Add(3);  // the first two knobs have their second value
  EXPECT_DOUBLE_EQ(tried.NewPairs(1), 1.0 / 3);
}

// Differences of the columns for the similarity of values are those of the covariance: 2 between words and, for the
// ends of a range of numbers, 2 (1 - (1 - kSame) M), M = (1 + r + r^2 / 3) e^-r at r = sqrt(5) * 1.8.
TEST(AutoPoints, ColumnsOfValuesByThemselves) {
  Space knobs("knobs");
  knobs.Add(Knob::Choice("a", {1, 3, 7}));
  knobs.Add(Knob::Words("b", {"x", "y", "z"}));
  const TaskSpace space = TaskOf(std::move(knobs));
  const AutoPoints points = MakeAutoPoints(space, {}, 1, 1 << 22, 100000);
  const auto apart = [&](uint64_t a, uint64_t b) {
    double sum = 0;
    for (size_t c = points.mains; c < points.columns; ++c) sum += std::pow(points.row(a)[c] - points.row(b)[c], 2);
    return sum;
  };
  const double r = std::sqrt(5.0) * 1.8, far = 2 * (1 - 0.6 * (1 + r + r * r / 3) * std::exp(-r));
  EXPECT_NEAR(apart(0, 2), far, 1e-3);
  EXPECT_NEAR(apart(0, 3), 2, 1e-3);
  EXPECT_NEAR(apart(0, 8), far + 2, 1e-3);
  EXPECT_LT(apart(0, 1), apart(0, 2));
}

// 24 words give 24 columns, for ten such knobs; the last knob has `words`.
TaskSpace ManyWords(int words) {
  const auto knob = [](const std::string& name, int count) {
    std::vector<std::string> values;
    for (int i = 0; i < count; ++i) values.push_back(name + std::to_string(i));
    return Knob::Words(name, std::move(values));
  };
  Space space("words");
  for (char name = 'a'; name < 'a' + 10; ++name) space.Add(knob(std::string(1, name), 24));
  space.Add(knob("last", words));
  return TaskOf(std::move(space));
}

// With the estimate's slope, 255 columns fill the model. With one more, the last knob gets no columns, and the search
// still works.
TEST(AutoPoints, AsManyColumnsAsTheModelHas) {
  const std::vector<std::pair<int, size_t>> cases = {{15, 255}, {16, 240}};
  for (const auto& [words, columns] : cases) {
    const TaskSpace space = ManyWords(words);
    const AutoPoints points = MakeAutoPoints(space, {}, 1, 1 << 22, 64);
    ASSERT_EQ(points.rows(), 64U);
    EXPECT_EQ(points.slope, columns) << words;
    EXPECT_LE(points.columns, GaussianModel::kMostColumns) << words;
    AutoView view(points);
    view.Fit({{0, 0.0}, {1, 0.5}, {2, 0.25}}, 0.0, points.log_cost);
    EXPECT_LT(view.Mean(0), view.Mean(1)) << words;
  }
}

}  // namespace
}  // namespace hone::search
