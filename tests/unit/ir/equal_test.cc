#include "common/expect.h"
#include "ir/analysis.h"

namespace hone::ir {
namespace {

TEST(EqualTest, Expressions) {
  Var i("i"), j("j"), other("i");
  EXPECT_TRUE(Equal(i + j * 2, i + j * 2));
  EXPECT_FALSE(Equal(i + j, j + i));
  EXPECT_FALSE(Equal(i + 1, i + 2));
  EXPECT_FALSE(Equal(i + 1, i - 1));
  EXPECT_FALSE(Equal(i, other));  // names do not count
  EXPECT_FALSE(Equal(MakeInt(DType::Int(32), 1), Expr(1)));
  EXPECT_FALSE(Equal(Imm(DType::Float(32), 0.0), Imm(DType::Float(32), -0.0)));
  EXPECT_FALSE(Equal(MakeRamp(i, 1, 4), MakeRamp(i, 1, 8)));
  EXPECT_TRUE(Equal(Expr(), Expr()));
  EXPECT_FALSE(Equal(Expr(), i));
}

TEST(EqualTest, BoundVariablesCorrespond) {
  Var a("a"), b("b"), n("n");
  auto sum = [](const Var& v, const Expr& value) { return Expr(new Reduce(Reducer::kSum, {{v, 8}}, value)); };
  Expr x = sum(a, a * a + n), y = sum(b, b * b + n);
  EXPECT_TRUE(Equal(x, y));
  EXPECT_FALSE(Equal(x, sum(b, b * n + n)));
  EXPECT_FALSE(Equal(sum(a, a + b), sum(b, b + b)));  // a free b is not a bound one

  Buffer out = Buffer::Make("out", DType::Int(64), 8, Scope::kArgument, true);
  auto loop = [&](const Var& v, const Expr& value) {
    return MakeFor(v, 0, 8, ForKind::kSerial, MakeStore(out, v, value));
  };
  EXPECT_TRUE(Equal(loop(a, a + n), loop(b, b + n)));
  EXPECT_FALSE(Equal(loop(a, a + n), loop(b, a + n)));
  EXPECT_FALSE(Equal(loop(a, a), MakeFor(a, 0, 8, ForKind::kParallel, MakeStore(out, a, a))));
}

}  // namespace
}  // namespace hone::ir
