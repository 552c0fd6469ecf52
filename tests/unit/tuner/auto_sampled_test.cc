// The tuner `auto` on a space that is too large to enumerate: the sample, and the rows that are added.
#include "search/tuner/auto_points.h"
#include "search/tuner/points.h"
#include "surface.h"

namespace hone::search {
namespace {

constexpr const char* kNames[] = {"a", "b", "c", "d", "e", "f"};

// 64^6 points; a sample of 100,000 has almost no pairs that differ in only two knobs.
TaskSpace LargeSpace() {
  Space large("large");
  for (const char* name : kNames) large.Add(Knob::Choice(name, Numbers(1, 64)));
  return TaskOf(std::move(large));
}

Outcome InBowl(const Config& c) {
  double sum = 1;
  for (const char* name : kNames) sum += std::fabs(std::log2(static_cast<double>(c.Number(name)) / 16.0));
  return OkOutcome(c, 1e-3 * sum);
}

// In how many knobs two points differ.
size_t Apart(const Config& a, const Config& b) {
  size_t apart = 0;
  for (size_t k = 0; k < a.values.size(); ++k) apart += a.values[k] == b.values[k] ? 0 : 1;
  return apart;
}

TEST(AutoSampled, TheDefaultIsAmongThePoints) {
  const TaskSpace space = LargeSpace();
  TunerContext context;
  context.defaults = {12345678901, space.size()};  // the second one is not a point
  const std::vector<PointIndex> tried = Search(space, InBowl, 4, 1, context);
  ASSERT_EQ(tried.size(), 4U);
  EXPECT_EQ(tried[0], 12345678901U);
}

// A random point takes about 7 ms.
TEST(AutoSampled, LooksNearTheFastest) {
  const TaskSpace space = LargeSpace();
  const std::vector<PointIndex> tried = Search(space, InBowl, 64);
  ASSERT_EQ(tried.size(), 64U);
  EXPECT_LT(BestSeconds(space, tried, InBowl), 2.0e-3);
  int near = 0;
  for (size_t i = 32; i < tried.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (Apart(space.At(tried[i]), space.At(tried[j])) > 2) continue;
      ++near;
      break;
    }
  }
  EXPECT_GE(near, 4);
}

TEST(AutoSampled, LearnsFromAHistoryThatIsNotInTheSample) {
  const TaskSpace space = LargeSpace();
  std::vector<PointIndex> history;
  for (uint64_t i = 1; i <= 8; ++i) history.push_back(Mix64(i) % space.size());
  AutoTuner tuner(space, 1, {});
  Propose(&tuner, space, InBowl, history.size(), 16, history);
  EXPECT_TRUE(tuner.ExpectedGain().has_value());  // without any success, nothing is expected
}

TEST(AutoSampled, ResumedAnywhereItEndsWithTheSameTrials) {
  const TaskSpace space = LargeSpace();
  const std::vector<PointIndex> whole = Search(space, InBowl, 28, 9);
  ASSERT_EQ(whole.size(), 28U);
  for (const int at : {5, 10, 15, 20, 26}) {
    AutoTuner tuner(space, 9, {});
    EXPECT_EQ(Propose(&tuner, space, InBowl, 28, 16, {whole.begin(), whole.begin() + at}), whole) << at;
  }
}

TEST(AutoPoints, ARowAddedIsAsIfItHadBeenThere) {
  const TaskSpace space = SurfaceSpace();
  TunerContext context;
  context.estimate = [](const Workload&) {
    return [](const Config& c) { return std::vector<double>{static_cast<double>(c.Number("c")), 0.5}; };
  };
  const AutoPoints all = MakeAutoPoints(space, context, 1, 1 << 22, 100000);
  AutoPoints some = MakeAutoPoints(space, context, 1, 1 << 22, 64);
  ASSERT_TRUE(all.complete);
  ASSERT_FALSE(some.complete);
  ASSERT_EQ(some.rows(), 64U);
  uint64_t other = 0;
  while (some.Find(other) < some.rows() || space.Reject(other)) ++other;
  AddPoints(space, context, {other, some.index[0], other, space.size()}, &some);
  ASSERT_EQ(some.rows(), 65U);
  ASSERT_EQ(some.Find(other), 64U);
  EXPECT_FLOAT_EQ(some.log_cost[64], all.log_cost[all.Find(other)]);
  ASSERT_EQ(some.columns, all.columns);
  const float *a = all.row(all.Find(other)), *b = all.row(all.Find(some.index[0]));
  for (size_t c = 0; c < some.columns; ++c) EXPECT_NEAR(some.row(64)[c] - some.row(0)[c], a[c] - b[c], 1e-4) << c;
  some.Truncate(some.sorted);
  EXPECT_EQ(some.rows(), 64U);
  EXPECT_EQ(some.Find(other), 64U);  // not there
}

// 8 x 8 x 8 x 8 points: 4 x 7 neighbours differ in one knob, 6 x 7 x 7 in two.
TEST(Near, OneAndTwoKnobsAway) {
  const TaskSpace space = SurfaceSpace();
  const uint64_t center = 5 + 8 * 3 + 64 * 2;  // a = 6, b = 4: at the border of legality
  std::set<PointIndex> visited;
  VisitNear(space, center, [&](PointIndex index) { visited.insert(index); });
  EXPECT_EQ(visited.size(), 1U + 4 * 7 + 6 * 49);
  for (const PointIndex index : visited) EXPECT_LE(Apart(space.At(index), space.At(center)), 2U);
  Rng rng(1);
  const std::vector<PointIndex> drawn = DrawNear(space, center, 40, &rng);
  EXPECT_LE(drawn.size(), 40U);
  EXPECT_GE(drawn.size(), 20U);  // more than half of the near points are legal
  size_t one = 0;
  for (const PointIndex index : drawn) {
    EXPECT_FALSE(space.Reject(index));
    EXPECT_EQ(visited.count(index), 1U);
    EXPECT_NE(index, center);
    one += Apart(space.At(index), space.At(center)) == 1 ? 1 : 0;
  }
  EXPECT_GT(one, 0U);
  EXPECT_LE(one, 20U);
  EXPECT_GT(drawn.size(), one);
}

// The second of two templates, and one with a single point.
TEST(Near, OfItsOwnTemplate) {
  Space first("first"), second("second");
  first.Add(Knob::Choice("a", {1, 2, 3}));
  second.Add(Knob::Choice("a", {1, 2}));
  second.Add(Knob::Choice("b", {1, 2}));
  TaskSpace space;
  space.Add(std::move(first));
  space.Add(std::move(second));
  space.Add(Space("third"));
  std::set<PointIndex> visited;
  VisitNear(space, 4, [&](PointIndex index) { visited.insert(index); });
  EXPECT_EQ(visited, (std::set<PointIndex>{3, 4, 5, 6}));
  Rng rng(1);
  EXPECT_TRUE(DrawNear(space, 7, 8, &rng).empty());
}

}  // namespace
}  // namespace hone::search
