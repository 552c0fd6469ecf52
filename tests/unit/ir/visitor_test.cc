#include "ir/visitor.h"

#include "common/expect.h"
#include "ir/analysis.h"
#include "ir/printer.h"

namespace hone::ir {
namespace {

class VisitorTest : public testing::Test {
 protected:
  // All statement kinds and most expression kinds.
  Stmt Everything() {
    Expr value = MakeSelect(i < n, MakeLoad(in, i + n), MakeCast(DType::Float(32), i));
    Expr call = MakeCall(DType::Float(32), Intrinsic::kExp, {value});
    Stmt store = MakeStore(out, i, call * call);
    Stmt vector = MakeStore(out, MakeRamp(i, 1, 4), MakeBroadcast(MakeLoad(in, n), 4));
    Stmt branch = MakeIf(MakeNot(i < 3) && n < 5, store, MakeBlock({vector, MakeBarrier()}));
    Stmt body = MakePragma("p", n, MakeBlock({branch, MakeEvaluate(i * 2)}));
    return MakeFor(i, n, n + 4, ForKind::kParallel, MakeAllocate(tmp, body));
  }
  Var i{"i"}, n{"n"};
  Buffer in = Buffer::Make("in", DType::Float(32), 64, Scope::kArgument);
  Buffer out = Buffer::Make("out", DType::Float(32), 64, Scope::kArgument, true);
  Buffer tmp = Buffer::Make("tmp", DType::Float(32), 64, Scope::kScratch);
};

TEST_F(VisitorTest, MutatorThatChangesNothingReturnsTheSame) {
  class Nothing : public Mutator {};
  Stmt s = Everything();
  EXPECT_TRUE(Nothing().Mutate(s).same_as(s));
}

TEST_F(VisitorTest, SubstituteReachesEveryUse) {
  Stmt s = Everything();
  std::string before = ToString(s);
  Stmt t = Substitute(s, n, Expr(7));
  EXPECT_FALSE(UsesVar(t, n));
  EXPECT_EQ(ToString(s), before);  // the old one is untouched
  EXPECT_TRUE(Substitute(s, Var("unused"), Expr(1)).same_as(s));
  EXPECT_EQ(ToString(Substitute(i + n * 2, {{i.node(), n}, {n.node(), i}})), "n + i*2");  // at once
}

TEST_F(VisitorTest, SubstitutingAVectorWidens) {
  EXPECT_EQ(ToString(Substitute(i * 2 + n, i, MakeRamp(0, 1, 4))), "ramp(0, 1, 4)*broadcast(2, 4) + broadcast(n, 4)");
  EXPECT_EQ(Substitute(MakeLoad(in, i), i, MakeRamp(0, 1, 4)).type(), DType::Float(32, 4));
}

TEST_F(VisitorTest, RemovedStatementsTakeTheirShellWithThem) {
  class NoStores : public Mutator {
    Stmt MutateStore(const Store&) override { return Stmt(); }
  };
  Stmt loop = MakeFor(i, 0, 4, ForKind::kSerial, MakeAllocate(tmp, MakeStore(tmp, i, Imm(DType::Float(32), 0))));
  EXPECT_FALSE(NoStores().Mutate(loop).defined());
}

TEST_F(VisitorTest, Analysis) {
  Stmt s = Everything();
  std::vector<Var> free = FreeVars(s);
  ASSERT_EQ(free.size(), 1u);  // i is bound inside
  EXPECT_TRUE(free[0].same_as(n));
  ASSERT_EQ(BuffersRead(s).size(), 1u);
  EXPECT_TRUE(BuffersRead(s)[0].same_as(in));
  ASSERT_EQ(BuffersWritten(s).size(), 1u);
  EXPECT_TRUE(BuffersWritten(s)[0].same_as(out));
  EXPECT_FALSE(HasLoad(i + n));
  EXPECT_TRUE(HasLoad(MakeLoad(in, i) + MakeLoad(in, n)));
}

}  // namespace
}  // namespace hone::ir
