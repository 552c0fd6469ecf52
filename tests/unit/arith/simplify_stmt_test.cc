#include "arith/simplify.h"
#include "common/expect.h"
#include "common/outline.h"

namespace hone::arith {
namespace {

using ir::Expr;
using ir::ForKind;
using ir::Min;
using ir::Stmt;
using ir::Var;

class SimplifyStmtTest : public testing::Test {
 protected:
  Stmt Set(Expr index, double value = 1) { return MakeStore(out, index, ir::Imm(DType::Float(32), value)); }
  Stmt Loop(const Var& v, Expr extent, Stmt body, ForKind kind = ForKind::kSerial) {
    return MakeFor(v, 0, extent, kind, body);
  }
  Var i{"i"}, j{"j"};
  ir::Buffer out = ir::Buffer::Make("out", DType::Float(32), 64, ir::Scope::kArgument, true);
};

TEST_F(SimplifyStmtTest, LoopsOfOneAndNone) {
  EXPECT_EQ(Outline(SimplifyStmt(MakeFor(i, 3, 1, ForKind::kParallel, Set(i * 2)))), "out[6] = 1.0f;\n");
  EXPECT_EQ(Outline(SimplifyStmt(Loop(i, 0, Set(i)))), "");
  EXPECT_EQ(Outline(SimplifyStmt(Loop(i, 4, Loop(j, i - 4, Set(j))))), "");  // i - 4 < 0 throughout
  EXPECT_EQ(Outline(SimplifyStmt(ir::MakeBlock({Loop(i, 0, Set(i)), Set(0)}))), "out[0] = 1.0f;\n");
}

TEST_F(SimplifyStmtTest, ConditionsThatRangesDecide) {
  Stmt guarded = Loop(i, 4, Loop(j, 8, MakeIf(i * 8 + j < 32, Set(i * 8 + j), Set(0))));
  EXPECT_EQ(Outline(SimplifyStmt(guarded)),
            "for (i, 0, 4)\n"
            "  for (j, 0, 8)\n"
            "    out[i*8 + j] = 1.0f;\n");
}

TEST_F(SimplifyStmtTest, TailsBecomeConstantUnderTheirCondition) {
  Stmt body = Loop(j, Min(Expr(14), Expr(57) - i * 14), Set(i * 14 + j));
  Stmt split = Loop(i, 5, MakeIf(i < 4, body, body));
  EXPECT_EQ(Outline(SimplifyStmt(split)),
            "for (i, 0, 5)\n"
            "  if (i < 4)\n"
            "    for (j, 0, 14)\n"
            "      out[i*14 + j] = 1.0f;\n"
            "  else\n"
            "    out[56] = 1.0f;\n");
}

TEST_F(SimplifyStmtTest, EmptyBranchesAndUnusedThings) {
  Expr c = i < 3;
  EXPECT_EQ(Outline(SimplifyStmt(MakeIf(c, ir::MakeBlock({}), Set(1)))), "if (2 < i)\n  out[1] = 1.0f;\n");
  EXPECT_EQ(Outline(SimplifyStmt(MakeIf(c, ir::MakeBlock({})))), "");
  ir::Buffer unused = ir::Buffer::Make("t", DType::Float(32), 4, ir::Scope::kScratch);
  EXPECT_EQ(Outline(SimplifyStmt(MakeAllocate(unused, Set(1)))), "out[1] = 1.0f;\n");
  EXPECT_EQ(Outline(SimplifyStmt(ir::MakeEvaluate(i + 1))), "");
}

TEST_F(SimplifyStmtTest, SimpleComesBackAsItself) {
  Stmt s = Loop(i, 4, Loop(j, 8, MakeIf(j < i, Set(i * 8 + j), Set(j))));
  EXPECT_TRUE(SimplifyStmt(s).same_as(s));
}

TEST_F(SimplifyStmtTest, OneVariableInTwoLoops) {
  Stmt s = ir::MakeBlock({Loop(i, 1, Set(i)), Loop(i, 4, Set(i + 1)), MakeFor(i, 7, 1, ForKind::kSerial, Set(i))});
  EXPECT_EQ(Outline(SimplifyStmt(s)),
            "out[0] = 1.0f;\n"
            "for (i, 0, 4)\n"
            "  out[i + 1] = 1.0f;\n"
            "out[7] = 1.0f;\n");
}

}  // namespace
}  // namespace hone::arith
