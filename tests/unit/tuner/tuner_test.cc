// Tuners on small spaces with known legal points; nothing is measured.
#include "search/tuner/tuner.h"

#include <algorithm>
#include <set>

#include "common/expect.h"
#include "search/tuner/random_tuner.h"

namespace hone::search {
namespace {

// 12 x 10 points of which those with a + b divisible by 3 are legal: 40 of them.
TaskSpace SmallSpace() {
  std::vector<int64_t> a(12), b(10);
  for (int i = 0; i < 12; ++i) a[i] = i;
  for (int i = 0; i < 10; ++i) b[i] = i;
  Space space("small");
  space.Add(Knob::Choice("a", a));
  space.Add(Knob::Choice("b", b));
  space.AddRule({"third", [](const Config& c) -> std::optional<std::string> {
                   if ((c.Number("a") + c.Number("b")) % 3 == 0) return std::nullopt;
                   return "a + b is not divisible by 3";
                 }});
  TaskSpace task;
  task.Add(std::move(space));
  return task;
}

std::set<PointIndex> LegalOfSmall() {
  std::set<PointIndex> legal;
  for (uint64_t i = 0; i < 120; ++i) {
    if ((i % 12 + i / 12) % 3 == 0) legal.insert(i);
  }
  return legal;
}

std::vector<Outcome> Outcomes(const TaskSpace& space, const std::vector<PointIndex>& indices) {
  std::vector<Outcome> outcomes;
  for (const uint64_t i : indices) {
    Outcome o;
    o.config = space.At(i);
    o.state = TrialState::kOk;
    o.median = 1e-3 * static_cast<double>(i + 1);
    outcomes.push_back(o);
  }
  return outcomes;
}

std::vector<PointIndex> RunAll(Tuner* tuner, const TaskSpace& space, int batch) {
  std::vector<PointIndex> all;
  while (true) {
    const std::vector<PointIndex> next = tuner->NextBatch(batch);
    if (next.empty()) return all;
    EXPECT_LE(static_cast<int>(next.size()), batch);
    tuner->Update(Outcomes(space, next));
    all.insert(all.end(), next.begin(), next.end());
  }
}

class EveryTuner : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Tuner> Make(const TaskSpace& space, uint64_t seed) {
    return Must(MakeTuner(GetParam(), space, seed));
  }
};

TEST_P(EveryTuner, ExhaustsASmallSpaceWithoutRepetition) {
  const TaskSpace space = SmallSpace();
  const std::vector<PointIndex> all = RunAll(Make(space, 7).get(), space, 7);
  EXPECT_EQ(all.size(), 40u);
  EXPECT_EQ(std::set<PointIndex>(all.begin(), all.end()), LegalOfSmall());
}

TEST_P(EveryTuner, DoesNotDependOnTheBatchSize) {
  const TaskSpace space = SmallSpace();
  EXPECT_EQ(RunAll(Make(space, 7).get(), space, 1), RunAll(Make(space, 7).get(), space, 16));
}

TEST_P(EveryTuner, ResumesAfterEveryTrialAsIfNothingHadHappened) {
  const TaskSpace space = SmallSpace();
  const std::vector<PointIndex> all = RunAll(Make(space, 3).get(), space, 5);
  for (size_t done = 0; done <= all.size(); ++done) {
    auto tuner = Make(space, 3);
    std::vector<PointIndex> resumed(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(done));
    tuner->Update(Outcomes(space, resumed));
    const std::vector<PointIndex> rest = RunAll(tuner.get(), space, 4);
    resumed.insert(resumed.end(), rest.begin(), rest.end());
    EXPECT_EQ(resumed, all) << "resumed after " << done;
  }
}

TEST_P(EveryTuner, NeverProposesTheDefaultThatTheHistoryHolds) {
  const TaskSpace space = SmallSpace();
  auto tuner = Make(space, 11);
  tuner->Update(Outcomes(space, {3}));
  const std::vector<PointIndex> rest = RunAll(tuner.get(), space, 8);
  EXPECT_EQ(rest.size(), 39u);
  EXPECT_EQ(std::count(rest.begin(), rest.end(), 3u), 0);
}

TEST_P(EveryTuner, OnePointAndNoPoint) {
  TaskSpace one;
  one.Add(Space("one"));
  EXPECT_EQ(RunAll(Make(one, 1).get(), one, 8), std::vector<PointIndex>{0});
  TaskSpace none;
  EXPECT_TRUE(Make(none, 1)->NextBatch(8).empty());
  Space space("illegal");
  space.Add(Knob::Choice("a", {1, 2, 3}));
  space.AddRule({"never", [](const Config&) -> std::optional<std::string> { return "never"; }});
  TaskSpace illegal;
  illegal.Add(std::move(space));
  EXPECT_TRUE(Make(illegal, 1)->NextBatch(8).empty());
}

TEST_P(EveryTuner, AnEmptyBatchIsPossible) {
  const TaskSpace space = SmallSpace();
  auto tuner = Make(space, 5);
  EXPECT_TRUE(tuner->NextBatch(0).empty());
  EXPECT_EQ(RunAll(tuner.get(), space, 6).size(), 40u);
}

INSTANTIATE_TEST_SUITE_P(Tuners, EveryTuner, testing::Values("random", "grid"),
                         [](const auto& info) { return info.param; });

TEST(RandomTunerTest, SeedsGiveDifferentOrders) {
  const TaskSpace space = SmallSpace();
  RandomTuner a(space, 1), b(space, 2);
  EXPECT_NE(a.NextBatch(10), b.NextBatch(10));
}

// The same guarantees where the space is too large to enumerate at once: the limit is lowered instead.
TEST(RandomTunerTest, DrawingFindsEveryLegalPointToo) {
  const TaskSpace space = SmallSpace();
  RandomTuner tuner(space, 9, /*enumerate_limit=*/10);
  const std::vector<PointIndex> all = RunAll(&tuner, space, 6);
  EXPECT_EQ(all.size(), 40u);
  EXPECT_EQ(std::set<PointIndex>(all.begin(), all.end()), LegalOfSmall());
  for (size_t done = 0; done <= all.size(); ++done) {
    RandomTuner again(space, 9, 10);
    std::vector<PointIndex> resumed(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(done));
    again.Update(Outcomes(space, resumed));
    const std::vector<PointIndex> rest = RunAll(&again, space, 3);
    resumed.insert(resumed.end(), rest.begin(), rest.end());
    EXPECT_EQ(resumed, all) << "resumed after " << done;
  }
}

TEST(GridTunerTest, AscendingOrder) {
  const TaskSpace space = SmallSpace();
  auto tuner = Must(MakeTuner("gridsearch", space, 1));
  EXPECT_STREQ(tuner->name(), "grid");
  EXPECT_EQ(tuner->NextBatch(5), (std::vector<PointIndex>{0, 3, 6, 9, 14}));
}

TEST(MakeTunerTest, UnknownNameIsAnErrorWithASuggestion) {
  const TaskSpace space = SmallSpace();
  const Status status = MakeTuner("randon", space, 1).status();
  EXPECT_EQ(status.kind(), StatusKind::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("`random`"));
}

}  // namespace
}  // namespace hone::search
