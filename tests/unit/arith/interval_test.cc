#include "arith/interval.h"

#include "common/evaluate.h"
#include "common/expect.h"
#include "ir/printer.h"

namespace hone::arith {
namespace {

using ir::Expr;
using ir::Min;
using ir::Var;

std::string Text(const Interval& i) { return "[" + ir::ToString(i.min) + ", " + ir::ToString(i.max) + "]"; }

class IntervalTest : public testing::Test {
 protected:
  Var oh{"oh"}, oi{"oi"}, kh{"kh"}, f{"f"};
  Analyzer analyzer;
};

TEST_F(IntervalTest, AffineIsExact) {
  // The rows that a tile of 4 output rows of a 3x3 convolution with stride 2 reads.
  Interval rows = IntervalOf((oh * 4 + oi) * 2 + kh, {{oi, {0, 3}}, {kh, {0, 2}}}, &analyzer);
  EXPECT_EQ(Text(rows), "[oh*8, oh*8 + 8]");
  EXPECT_EQ(ToString(ExtentOf(rows, &analyzer)), "9");  // (4-1)*2 + (3-1)*1 + 1
  EXPECT_EQ(Text(IntervalOf(oh - oi, {{oi, {0, 3}}}, &analyzer)), "[oh - 3, oh]");
  EXPECT_EQ(Text(IntervalOf(oi - oi + kh, {{oi, {0, 3}}}, &analyzer)), "[kh, kh]");
}

TEST_F(IntervalTest, RaggedInnerLoops) {
  analyzer.Bind(oh, 0, 5);
  Expr last = Min(Expr(14), Expr(57) - oh * 14) - 1;
  Interval tile = IntervalOf(oh * 14 + oi, {{oi, {0, last}}}, &analyzer);
  EXPECT_EQ(ToString(ExtentOf(tile, &analyzer)), "min(oh*-14 + 57, 14)");
  // Both loops run: the whole axis, and no more.
  EXPECT_EQ(Text(IntervalOf(oh * 14 + oi, {{oh, {0, 4}}, {oi, {0, last}}}, &analyzer)), "[0, 56]");
}

TEST_F(IntervalTest, FusedLoops) {
  analyzer.Bind(f, 0, 16);
  // 14 consecutive iterations of a fused axis that starts on a multiple of 14, over rows of 56.
  Interval row = IntervalOf((f * 14 + oi) / 56, {{oi, {0, 13}}}, &analyzer);
  EXPECT_EQ(Text(row), "[f/4, f/4]");
  Interval column = IntervalOf((f * 14 + oi) % 56, {{oi, {0, 13}}}, &analyzer);
  EXPECT_EQ(Text(column), "[f%4*14, f%4*14 + 13]");
  // Unaligned: sound, with a bound on the extent.
  Interval ragged = IntervalOf((f * 10 + oi) / 56, {{oi, {0, 9}}}, &analyzer);
  EXPECT_EQ(analyzer.ConstUpperBound(ExtentOf(ragged, &analyzer)), 2);
}

TEST_F(IntervalTest, UnknownEnds) {
  ir::Buffer b = ir::Buffer::Make("b", DType::Int(64), 8, ir::Scope::kArgument);
  EXPECT_FALSE(IntervalOf(MakeLoad(b, oi), {{oi, {0, 7}}}, &analyzer).known());
  EXPECT_TRUE(IntervalOf(Min(MakeLoad(b, oi), 3), {{oi, {0, 7}}}, &analyzer).max.defined());
  EXPECT_TRUE(IntervalOf(MakeLoad(b, oh), {{oi, {0, 7}}}, &analyzer).known());  // does not run
}

TEST_F(IntervalTest, UnionOfTaps) {
  Interval a{oh * 2, oh * 2 + 4}, b{oh * 2 + 1, oh * 2 + 6};
  EXPECT_EQ(Text(Union(a, b, &analyzer)), "[oh*2, oh*2 + 6]");
}

// A row of an incomplete last tile belongs to exactly one tile.
TEST_F(IntervalTest, DivisionGoesIntoMinAndMax) {
  Var tile("tile"), row("row");
  analyzer.Bind(tile, 0, 4);
  std::vector<RunningVar> running = {{row, {tile * 4, Min(tile * 4 + 3, Expr(13))}}};
  EXPECT_EQ(Text(IntervalOf(row / 4, running, &analyzer)), "[tile, tile]");
}

// Against all values, for a table of index forms.
TEST_F(IntervalTest, ContainsEveryValue) {
  std::vector<Expr> table = {
      oh * 3 + oi * 2 - kh,    (oh * 3 + oi) / 4 * 4 + kh,    (oi * 5 + kh) % 7 + oh, Min(oi * 3, oh + kh) - oi,
      ir::Max(oi - kh, 2) * 3, (oi + kh) / 3 - (oi + oh) / 3, (oh * 6 + oi) % 6 / 2,  oh * 4 + (oi - 3) / 2,
  };
  std::vector<RunningVar> running = {{oi, {0, 5}}, {kh, {oi - 1, oi + 2}}};
  for (const Expr& e : table) {
    Interval interval = IntervalOf(e, running, &analyzer);
    ASSERT_TRUE(interval.known()) << ir::ToString(e);
    for (int64_t x = -2; x < 4; ++x) {
      int64_t low = ir::EvaluateExpr(interval.min, {{oh, x}})->ints[0],
              high = ir::EvaluateExpr(interval.max, {{oh, x}})->ints[0];
      for (int64_t y = 0; y <= 5; ++y) {
        for (int64_t z = y - 1; z <= y + 2; ++z) {
          int64_t value = ir::EvaluateExpr(e, {{oh, x}, {oi, y}, {kh, z}})->ints[0];
          EXPECT_LE(low, value) << ir::ToString(e);
          EXPECT_GE(high, value) << ir::ToString(e);
        }
      }
    }
  }
}

}  // namespace
}  // namespace hone::arith
