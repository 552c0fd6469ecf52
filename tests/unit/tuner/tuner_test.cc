// Tuners that do not learn, and the making of tuners.
#include "search/tuner/random_tuner.h"
#include "surface.h"

namespace hone::search {
namespace {

// The guarantees of every tuner on spaces too large to enumerate at once; here the limit is lowered instead.
TEST(RandomTunerTest, DrawingFindsEveryLegalPointToo) {
  const TaskSpace space = SmallSpace();
  RandomTuner tuner(space, 9, /*enumerate_limit=*/10);
  const std::vector<PointIndex> all = Propose(&tuner, space, EqualTimes, 100, 6);
  std::vector<PointIndex> sorted = all;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, LegalOfSmall());
  for (int done = 0; done <= 40; ++done) {
    RandomTuner again(space, 9, 10);
    EXPECT_EQ(Propose(&again, space, EqualTimes, 100, 3, {all.begin(), all.begin() + done}), all) << done;
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
