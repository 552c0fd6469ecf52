// The definitions' threads: each plane is computed once, and the number of threads does not affect the values. Tests of
// op/ and graph/ check the values.
#include "base/interrupt.h"
#include "base/rng.h"
#include "common/expect.h"
#include "semantics/tables.h"
#include "semantics/semantics.h"
#include "task/workload.h"

namespace hone::semantics {
namespace {

TEST(ParallelFor, DoesEveryPartOnce) {
  for (const int64_t count : {0, 1, 3, 100}) {
    for (const int threads : {1, 2, 7}) {
      std::vector<int> done(static_cast<size_t>(count), 0);
      ParallelFor(count, threads, [&](int64_t i) { ++done[static_cast<size_t>(i)]; });
      EXPECT_EQ(done, std::vector<int>(static_cast<size_t>(count), 1)) << count << " parts, " << threads << " threads";
    }
  }
}

TEST(ParallelFor, EndsEarlyWhenInterrupted) {
  RequestInterrupt();
  int done = 0;
  ParallelFor(100, 1, [&](int64_t) { ++done; });
  ClearInterruptForTest();
  EXPECT_EQ(done, 0);
}

TEST(Define, ValuesDoNotDependOnTheThreads) {
  for (const char* text :
       {"conv3d(f32[2,4,5,7,6], f32[6,2,3,2,2], stride=2x1x3, pad=1,0,1,1,0,0, dilation=1x1x3, groups=2)",
        "max_pool3d(f32[2,3,4,5,6], kernel=2x1x3)", "matmul(f32[5,1,6,3], f32[4,3,7])"}) {
    const auto workload = Must(Workload::Parse(text));
    ASSERT_TRUE(InferOutput(workload).ok()) << text;
    Rng rng(5);
    std::vector<Values> inputs;
    for (const TensorType& type : workload.inputs) {
      Values& values = inputs.emplace_back(static_cast<size_t>(type.Elements()));
      for (double& value : values) value = rng.Normal();
    }
    std::vector<const Values*> pointers;
    for (const Values& values : inputs) pointers.push_back(&values);
    const Values alone = Evaluate(workload, pointers, 1);
    EXPECT_NE(std::accumulate(alone.begin(), alone.end(), 0.0), 0);
    for (const int threads : {2, 4, 64}) EXPECT_EQ(Evaluate(workload, pointers, threads), alone) << text;
  }
}

}  // namespace
}  // namespace hone::semantics
