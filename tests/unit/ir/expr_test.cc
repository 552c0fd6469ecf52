#include "ir/expr.h"

#include "common/expect.h"
#include "ir/printer.h"
#include "ir/stmt.h"

namespace hone::ir {
namespace {

TEST(ExprTest, ImmediatesFollowTheOtherSide) {
  Var x("x", DType::Float(32)), s("s", DType::Int(32)), v("v", DType::Int(32, 4));
  EXPECT_EQ((x + 1).type(), DType::Float(32));
  EXPECT_EQ(ToString(x + 1), "x + 1.0f");
  EXPECT_EQ(ToString(Expr(2) * s), "i32(2)*s");
  EXPECT_EQ(ToString(v + 3), "v + broadcast(i32(3), 4)");
  EXPECT_EQ(ToString(Min(v, s)), "min(v, broadcast(s, 4))");
  EXPECT_EQ((x < 1).type(), DType::Bool());
  EXPECT_EQ((v < 1).type(), DType::Bool(4));
}

TEST(ExprTest, ConstantsFold) {
  EXPECT_EQ(ToString(Expr(7) / Expr(-2)), "-4");
  EXPECT_EQ(ToString(MakeInt(DType::Int(8), 100) + MakeInt(DType::Int(8), 100)), "i8(-56)");
  EXPECT_EQ(ToString(Imm(DType::Float(32), 0.1) + Imm(DType::Float(32), 0.2)), "0.3f");  // in f32, not in f64
  EXPECT_EQ(ToString(Expr(1) < Expr(2)), "true");
  EXPECT_EQ(ToString(MakeCast(DType::Int(32), Imm(DType::Float(32), -2.5))), "i32(-2)");
  EXPECT_EQ(ToString(Expr(1) / Expr(0)), "1/0");  // left to the verifier
  Var n("n");
  EXPECT_TRUE(MakeSelect(Expr(1) < Expr(2), n, 0).same_as(n));
}

TEST(ExprTest, OneLaneIsAScalar) {
  Var n("n");
  EXPECT_TRUE(MakeBroadcast(n, 1).same_as(n));
  EXPECT_TRUE(MakeRamp(n, 1, 1).same_as(n));
}

TEST(StmtTest, BlocksAreFlat) {
  Buffer b = Buffer::Make("b", DType::Int(64), 4, Scope::kArgument, true);
  Stmt a = MakeStore(b, 0, 1), c = MakeStore(b, 1, 1);
  EXPECT_TRUE(MakeBlock({a}).same_as(a));
  EXPECT_TRUE(MakeBlock({Stmt(), MakeBlock({}), a}).same_as(a));
  EXPECT_EQ(MakeBlock({MakeBlock({a, c}), c}).as<Block>()->stmts.size(), 3u);
  EXPECT_TRUE(IsEmpty(MakeBlock({})));
}

TEST(HandleTest, NodesLiveAsLongAsTheirHandles) {
  Expr e;
  {
    Var n("n");
    e = n + 1;
    EXPECT_EQ(n->refs.load(), 2);
  }
  EXPECT_EQ(ToString(e), "n + 1");
  EXPECT_EQ(e->refs.load(), 1);
  e = e;
  EXPECT_EQ(e->refs.load(), 1);
}

}  // namespace
}  // namespace hone::ir
