// The expectations are worked out by hand from the definitions in search/feature/loop_features.h.
#include "search/feature/loop_features.h"

#include "common/expect.h"
#include "search/feature/loop_touches.h"

namespace hone::search {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::ForKind;
using ir::MakeFor;
using ir::MakeLoad;
using ir::MakeStore;
using ir::Scope;
using ir::Var;

// parallel i < 4: for k < 3: c[i] = c[i] + a[i*3 + k] * b[k]
ir::Function MatVec() {
  const Var i("i"), k("k");
  const Buffer a = Buffer::Make("a", DType::Float(32), 12, Scope::kArgument);
  const Buffer b = Buffer::Make("b", DType::Float(32), 3, Scope::kArgument);
  const Buffer c = Buffer::Make("c", DType::Float(32), 4, Scope::kArgument, true);
  const Expr sum = MakeLoad(c, i) + MakeLoad(a, i * Expr(3) + k) * MakeLoad(b, k);
  return {"f",
          {a, b, c},
          MakeFor(i, Expr(0), Expr(4), ForKind::kParallel,
                  MakeFor(k, Expr(0), Expr(3), ForKind::kSerial, MakeStore(c, i, sum)))};
}

void ExpectTouch(const LoopTouches& loop, const char* name, const Touch& expected) {
  SCOPED_TRACE(name);
  ASSERT_EQ(loop.touches.count(name), 1u);
  const Touch& t = loop.touches.at(name);
  EXPECT_EQ(t.stride, expected.stride);
  EXPECT_EQ(t.count, expected.count);
  EXPECT_EQ(t.reuse, expected.reuse);
  EXPECT_EQ(t.thread_count, expected.thread_count);
  EXPECT_EQ(t.thread_reuse, expected.thread_reuse);
}

TEST(LoopTouchesTest, MatrixTimesVector) {
  const std::vector<LoopTouches> loops = CollectTouches(MatVec());
  ASSERT_EQ(loops.size(), 2u);
  const LoopTouches &i = loops[0], &k = loops[1];
  EXPECT_EQ(i.length, 4);
  EXPECT_EQ(k.length, 3);
  EXPECT_EQ(i.nest, 1);
  EXPECT_EQ(k.nest, 2);
  EXPECT_EQ(i.top_down, 4);
  EXPECT_EQ(k.top_down, 12);
  EXPECT_EQ(i.bottom_up, 12);
  EXPECT_EQ(k.bottom_up, 3);
  EXPECT_EQ(i.additions + i.multiplications, 0);
  EXPECT_EQ(k.additions, 1);
  EXPECT_EQ(k.multiplications, 1);
  ASSERT_EQ(i.touches.size(), 4u);  // c is loaded and stored
  ExpectTouch(k, "a_0000", {"a", 1, 3, 1, 0, 0});
  ExpectTouch(k, "b_0000", {"b", 1, 3, 1, 0, 0});
  ExpectTouch(k, "c_0001", {"c", 0, 1, 3, 0, 0});
  ExpectTouch(i, "a_0000", {"a", 3, 12, 1, 4, 1});
  ExpectTouch(i, "b_0000", {"b", 0, 3, 4, 1, 4});
  ExpectTouch(i, "c_0001", {"c", 1, 4, 3, 4, 1});
}

TEST(ItervarFeaturesTest, MatrixTimesVector) {
  const std::vector<float> row = ItervarFeatures(MatVec());
  ASSERT_EQ(row.size(), 2u * (18 + 6 * 4));
  const auto log = [](double x) { return static_cast<float>(std::log2(1 + x)); };
  const float* k = row.data() + 18 + 6 * 4;
  EXPECT_EQ(k[0], log(3));
  EXPECT_EQ(k[1], 2);
  EXPECT_EQ(k[2], log(12));
  EXPECT_EQ(k[3], log(3));
  for (int kind = 0; kind < 11; ++kind) EXPECT_EQ(k[4 + kind], kind == 9 ? 1 : 0) << kind;  // serial
  EXPECT_EQ(row[4 + 8], 1);                                                                 // i is parallel
  EXPECT_EQ(k[15], log(1));
  EXPECT_EQ(k[16], log(1));
  EXPECT_EQ(k[17], 0);
  // a at i: stride 3, the constant, count 12, reuse 1, and 4, 1 for its threads.
  const float expected[] = {log(3), -log(1), log(12), log(1), log(4), log(1)};
  for (int j = 0; j < 6; ++j) EXPECT_EQ(row[18 + j], expected[j]) << j;
}

TEST(CurveFeaturesTest, MatrixTimesVector) {
  const std::vector<float> row = CurveFeatures(MatVec(), 5);
  ASSERT_EQ(row.size(), 3u * 4 * 5 * 2);
  // b: reuse at i and k is 4, 1: sorted with the 0 added 0 0 2; count 3, 3: 0 l l with l = log2 3.
  // count -> reuse at 0, 1: the point (0, 0); from 2 on: (l, 2), the last of those that do not lie beyond.
  const float l = static_cast<float>(std::log2(3.0));
  const float expected[] = {0, 0, 0, 1, 2, 2 - l, 2, 3 - l, 2, 4 - l};
  for (int j = 0; j < 10; ++j) EXPECT_NEAR(row[40 + j], expected[j], 1e-6) << j;
  // reuse -> count: at 0 and 1 the second of the points at 0, from 2 on (2, l).
  const float back[] = {l, 0, l, 1, l, 0, l, 1, l, 2};
  for (int j = 0; j < 10; ++j) EXPECT_NEAR(row[50 + j], back[j], 1e-6) << j;
}

TEST(LoopTouchesTest, ATailHasTheLengthOfItsFirstIteration) {
  const Var o("o"), i("i");
  const Buffer a = Buffer::Make("a", DType::Float(32), 50, Scope::kArgument, true);
  const Expr extent = Min(Expr(14), Expr(50) - o * Expr(14));
  const ir::Function f{"f",
                       {a},
                       MakeFor(o, Expr(0), Expr(4), ForKind::kSerial,
                               MakeFor(i, Expr(0), extent, ForKind::kVectorized,
                                       MakeStore(a, o * Expr(14) + i, ir::Imm(DType::Float(32), 0))))};
  const std::vector<LoopTouches> loops = CollectTouches(f);
  ASSERT_EQ(loops.size(), 2u);
  EXPECT_EQ(loops[1].length, 14);
  EXPECT_EQ(loops[1].kind, ForKind::kVectorized);
  ExpectTouch(loops[0], "a_0000", {"a", 14, 56, 1, 0, 0});
}

TEST(LoopTouchesTest, BlocksAndThreadsAreComparedWithWhatIsBelow) {
  const Var b("b"), t("t"), i("i");
  const Buffer a = Buffer::Make("a", DType::Float(32), 1024, Scope::kArgument, true);
  const Expr index = b * Expr(32) + t + i;
  const ir::Function f{"f",
                       {a},
                       MakeFor(b, Expr(0), Expr(8), ForKind::kBlockX,
                               MakeFor(t, Expr(0), Expr(32), ForKind::kThreadX,
                                       MakeFor(i, Expr(0), Expr(2), ForKind::kSerial,
                                               MakeStore(a, index, ir::Imm(DType::Float(32), 0)))))};
  const std::vector<LoopTouches> loops = CollectTouches(f);
  ExpectTouch(loops[2], "a_0000", {"a", 1, 2, 1, 0, 0});
  ExpectTouch(loops[1], "a_0000", {"a", 1, 64, 1, 32, 1});
  ExpectTouch(loops[0], "a_0000", {"a", 32, 512, 1, 8, 1});
}

TEST(AppendOtherKnobsTest, NumbersOfChoicesOnly) {
  Config config;
  config.values = {{"tile", KnobKind::kSplit, {-1, 4}, {}},
                   {"unroll", KnobKind::kOther, {512}, {}},
                   {"order", KnobKind::kOther, {}, {"word"}},
                   {"depth", KnobKind::kOther, {3}, {}}};
  std::vector<float> row = {9};
  AppendOtherKnobs(config, &row);
  EXPECT_EQ(row, (std::vector<float>{9, 512, 3}));
}

}  // namespace
}  // namespace hone::search
