// Products of a warp (Intrinsic::kMmaTf32) in the interpreter and the verifier, on a plain product of matrices: a
// hand-written kernel loads and stores elements in the layout of the instruction's fragments (ir/expr.h).
#include "common/expect.h"
#include "interpreter/interpreter.h"
#include "interpreter/tf32.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "types.h"

namespace hone::ir {
namespace {

TEST(Tf32, KeepsTenBitsAndRoundsTiesAway) {
  const double bit = std::ldexp(1.0, -10), half = bit / 2, ulp = std::ldexp(1.0, -23);
  EXPECT_EQ(RoundTf32(1 + bit), 1 + bit);
  EXPECT_EQ(RoundTf32(1 + half), 1 + bit) << "a tie";
  EXPECT_EQ(RoundTf32(-1 - half), -1 - bit) << "away from zero";
  EXPECT_EQ(RoundTf32(1 + half - ulp), 1);
  EXPECT_EQ(RoundTf32(1 + bit + half), 1 + 2 * bit) << "not to even";
  EXPECT_EQ(RoundTf32(2 - ulp), 2) << "into the next binade";
  EXPECT_EQ(RoundTf32(0.0), 0);
  EXPECT_TRUE(std::signbit(RoundTf32(-0.0)));
  EXPECT_TRUE(std::isinf(RoundTf32(INFINITY)));
  EXPECT_TRUE(std::isnan(RoundTf32(NAN)));
  EXPECT_EQ(RoundTf32(std::ldexp(1.0, -149)), 0) << "nothing is left of the least number";
}

// c + a b of 16x8, 8x8 and 16x8 values, row by row in memory, by `warps` warps that each compute all of it.
class WarpProduct : public testing::Test {
 protected:
  void SetUp() override {
    for (int k = 0; k < 128; ++k) x.push_back(static_cast<float>(k * 7 % 23) - 11);
    for (int k = 0; k < 64; ++k) y.push_back(static_cast<float>(k * 5 % 17) - 8);
    for (int k = 0; k < 128; ++k) z.push_back(static_cast<float>(k));
  }
  // Threads along x: 32 per warp, with warps along y; `body` is the program of each.
  Stmt Nest(Stmt body, int64_t lanes = 32) {
    body = MakeAllocate(sums, MakeBlock({MakeStore(sums, MakeRamp(0, 1, 4), Gather(c, CIndex)), std::move(body)}));
    return MakeFor(block, 0, 1, ForKind::kBlockX,
                   MakeFor(warp, 0, 2, ForKind::kThreadY, MakeFor(lane, 0, lanes, ForKind::kThreadX, std::move(body))));
  }
  using Index = Expr (*)(const Expr& g, const Expr& t, const Expr& i);
  static Expr AIndex(const Expr& g, const Expr& t, const Expr& i) { return (g + i % 2 * 8) * 8 + t + i / 2 * 4; }
  static Expr BIndex(const Expr& g, const Expr& t, const Expr& i) { return (t + i * 4) * 8 + g; }
  static Expr CIndex(const Expr& g, const Expr& t, const Expr& i) { return (g + i / 2 * 8) * 8 + t * 2 + i % 2; }
  Expr At(Index index, int lanes) const {
    return index(MakeBroadcast(Expr(lane) / 4, lanes), MakeBroadcast(Expr(lane) % 4, lanes), MakeRamp(0, 1, lanes));
  }
  Expr Gather(const Buffer& b, Index index, int lanes = 4) const { return MakeLoad(b, At(index, lanes)); }
  Stmt Multiply() const {
    const Expr mine = MakeLoad(sums, MakeRamp(0, 1, 4));
    return MakeStore(sums, MakeRamp(0, 1, 4),
                     MakeCall(kF32.WithLanes(4), Intrinsic::kMmaTf32, {Gather(a, AIndex), Gather(b, BIndex, 2), mine}));
  }
  // The second warp's threads store where the first one's do not.
  Stmt StoreAll() const {
    const Expr at = At(CIndex, 4) + MakeBroadcast(Expr(warp) * 128, 4);
    return MakeStore(out, at, MakeLoad(sums, MakeRamp(0, 1, 4)));
  }
  Function Make(const Stmt& s) const { return {"test", {a, b, c, out}, s}; }
  std::string Run(const Stmt& s, ParallelOrder order = ParallelOrder::kForward) {
    d.assign(256, -1.0f);
    return ir::Run(Make(s), {{x.data(), 128}, {y.data(), 64}, {z.data(), 128}, {d.data(), 256}}, {order, 3}).message();
  }

  Buffer a = Buffer::Make("a", kF32, 128, Scope::kArgument), b = Buffer::Make("b", kF32, 64, Scope::kArgument);
  Buffer c = Buffer::Make("c", kF32, 128, Scope::kArgument);
  Buffer out = Buffer::Make("out", kF32, 256, Scope::kArgument, true);
  Buffer sums = Buffer::Make("sums", kF32, 4, Scope::kRegister);
  Var block{"block"}, warp{"warp"}, lane{"lane"}, i{"i"};
  std::vector<float> x, y, z, d;
};

TEST_F(WarpProduct, IsTheProductOfTheMatrices) {
  const Stmt s = Nest(MakeBlock({Multiply(), StoreAll()}));
  EXPECT_EQ(VerifyDevice(Make(s)).message(), "");
  for (auto order : {ParallelOrder::kForward, ParallelOrder::kReversed, ParallelOrder::kShuffled}) {
    ASSERT_EQ(Run(s, order), "");
    for (int row = 0; row < 16; ++row) {
      for (int column = 0; column < 8; ++column) {
        float want = z[row * 8 + column];
        for (int k = 0; k < 8; ++k) want += x[row * 8 + k] * y[k * 8 + column];
        EXPECT_EQ(d[row * 8 + column], want) << row << " " << column;
        EXPECT_EQ(d[128 + row * 8 + column], want) << row << " " << column;
      }
    }
  }
}

TEST_F(WarpProduct, TakesOnlyWhatTf32Holds) {
  x[77] = 1 + std::ldexp(1.0f, -11);
  EXPECT_THAT(Run(Nest(MakeBlock({Multiply(), StoreAll()}))), HasSubstr("which TF32 cannot hold"));
}

TEST_F(WarpProduct, NeedsWholeWarps) {
  EXPECT_THAT(Run(Nest(MakeBlock({Multiply(), StoreAll()}), 20)), HasSubstr("40 threads: not a whole number of warps"));
}

TEST_F(WarpProduct, NeedsAllThreads) {
  const Stmt part = Nest(MakeBlock({MakeIf(Expr(lane) < 16, Multiply()), StoreAll()}));
  EXPECT_THAT(Run(part), HasSubstr("divergent control: threads ("));
  EXPECT_THAT(VerifyDevice(Make(part)).message(), HasSubstr("a product of warps where threads of a block part"));
}

TEST_F(WarpProduct, IsAllOfAStoreOfADevice) {
  const Expr four = MakeLoad(c, MakeRamp(0, 1, 4)), two = MakeLoad(b, MakeRamp(0, 1, 2));
  const Expr product = MakeCall(kF32.WithLanes(4), Intrinsic::kMmaTf32, {four, two, four});
  const Stmt inside = MakeStore(out, MakeRamp(0, 1, 4), product + product);
  EXPECT_THAT(Verify(Make(inside)).message(), HasSubstr("not all of what a store stores"));
  const Stmt other =
      MakeStore(out, MakeRamp(0, 1, 4), MakeCall(kF32.WithLanes(4), Intrinsic::kMmaTf32, {four, four, four}));
  EXPECT_THAT(Verify(Make(other)).message(), HasSubstr("4, 2 and 4 lanes"));
  const Stmt plain = MakeStore(out, MakeRamp(0, 1, 4), product);
  EXPECT_EQ(Verify(Make(plain)).message(), "");
  EXPECT_THAT(Run(plain), HasSubstr("of a device's warp"));
  EXPECT_EQ(ToString(plain), "out[ramp(0, 1, 4)] = mma_tf32(c[ramp(0, 1, 4)], b[ramp(0, 1, 2)], c[ramp(0, 1, 4)]);\n");
}

}  // namespace
}  // namespace hone::ir
