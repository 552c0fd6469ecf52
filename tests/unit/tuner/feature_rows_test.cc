// Rows of features of loops do not depend on the number of threads, and need no model.
#include "search/tuner/feature_rows.h"

#include <atomic>

#include "surface.h"

namespace hone::search {
namespace {

using Rows = std::vector<std::vector<float>>;

std::vector<PointIndex> Points(uint64_t first, uint64_t count) {
  std::vector<PointIndex> points;
  for (uint64_t i = 0; i < count; ++i) points.push_back(first + 7 * i);
  return points;
}

TEST(FeatureRows, AreTheSameWhateverTheNumberOfThreads) {
  const TaskSpace space = SurfaceSpace();
  for (const FeatureKind kind :
       {FeatureKind::kKnob, FeatureKind::kItervar, FeatureKind::kCurve, FeatureKind::kStores}) {
    TunerContext context = SurfaceContext();
    const Rows alone = MakeFeatureRows(kind, space, context)->Rows(Points(0, 60));
    ASSERT_EQ(alone.size(), 60u);
    EXPECT_FALSE(alone[0].empty());
    EXPECT_NE(alone[0], alone[59]);
    for (const int threads : {2, 4, 100}) {
      context.threads = threads;
      const auto rows = MakeFeatureRows(kind, space, context);
      EXPECT_EQ(rows->Rows(Points(0, 60)), alone) << threads;
      // Half of them are cached by now, and some are requested twice.
      std::vector<PointIndex> again = Points(7 * 30, 60);
      again.insert(again.end(), again.begin(), again.begin() + 5);
      const Rows more = rows->Rows(again);
      EXPECT_TRUE(std::equal(more.begin(), more.begin() + 30, alone.begin() + 30)) << threads;
      EXPECT_TRUE(std::equal(more.begin() + 60, more.end(), more.begin())) << threads;
    }
  }
}

TEST(FeatureRows, APointIsLoweredOnceAndOneThatCannotBeHasAnEmptyRow) {
  const TaskSpace space = SurfaceSpace();
  TunerContext context = SurfaceContext();
  context.threads = 4;
  std::atomic<int> lowered{0};
  context.loops = [&](const Workload& workload, const Config& config) -> Result<ir::Function> {
    ++lowered;
    if (config.Number("a") == 1) return Status::Invalid("a is 1");
    return SurfaceLoops(workload, config);
  };
  const auto rows = MakeFeatureRows(FeatureKind::kCurve, space, context);
  const std::vector<PointIndex> points = Points(0, 100);
  const Rows made = rows->Rows(points);
  for (size_t i = 0; i < points.size(); ++i) EXPECT_EQ(made[i].empty(), space.At(points[i]).Number("a") == 1) << i;
  EXPECT_EQ(lowered, 100);
  EXPECT_EQ(rows->Rows(points), made);
  EXPECT_EQ(lowered, 100);
}

}  // namespace
}  // namespace hone::search
