// Before and after each pass on statements, as text. The expectations are written by hand from the promises of the
// passes' headers.
#include "lower/passes.h"

#include "unit/lower/loops.h"

namespace hone::lower {
namespace {

struct Program {
  Var i{"i"}, j{"j"}, k{"k"};
  Buffer a = Buffer::Make("a", kF32, 1000, ir::Scope::kArgument);
  Buffer b = Buffer::Make("b", kF32, 1000, ir::Scope::kArgument, true);
  Expr A(Expr index) const { return ir::MakeLoad(a, index); }
  Stmt B(Expr index, Expr value) const { return ir::MakeStore(b, index, value); }
};

TEST(Specialize, CutsTheOuterLoopWhereTheTailBegins) {
  Program p;
  Stmt inner = Loop(p.j, Min(Expr(4), Expr(10) - p.i * 4), p.B(p.i * 4 + p.j, p.A(p.j)), ForKind::kUnrolled);
  EXPECT_EQ(Simple(Specialize(Loop(p.i, 3, inner))),
            "for (i, 0, 2)\n"
            "  for unrolled (j, 0, 4)\n"
            "    b[i*4 + j] = a[j];\n"
            "for unrolled (j, 0, 2)\n"
            "  b[j + 8] = a[j];\n");
}

TEST(Specialize, KeepsAParallelLoopWhole) {
  Program p;
  Stmt inner = Loop(p.j, Min(Expr(4), Expr(10) - p.i * 4), p.B(p.i * 4 + p.j, p.A(p.j)), ForKind::kVectorized);
  EXPECT_EQ(Simple(Specialize(Loop(p.i, 3, inner, ForKind::kParallel))),
            "for parallel (i, 0, 3)\n"
            "  if (i < 2)\n"
            "    for vectorized (j, 0, 4)\n"
            "      b[i*4 + j] = a[j];\n"
            "  else\n"
            "    for vectorized (j, 0, 2)\n"
            "      b[j + 8] = a[j];\n");
}

TEST(Specialize, LeavesSerialTailsAlone) {
  Program p;
  Stmt loop = Loop(p.i, 3, Loop(p.j, Min(Expr(4), Expr(10) - p.i * 4), p.B(p.j, p.A(p.j))));
  EXPECT_EQ(Text(Specialize(loop)), Simple(loop));
}

TEST(Specialize, WhatStaysUnknownBecomesSerial) {
  Program p;
  Var n("n");
  Stmt s = Specialize(Loop(p.j, n, p.B(p.j, p.A(p.j)), ForKind::kUnrolled));
  EXPECT_EQ(s.as<ir::For>()->for_kind, ForKind::kSerial);
}

TEST(Specialize, CutsAtAMaxAsWell) {
  Program p;
  // 5 iterations from i = 2 on, one fewer for each smaller i.
  Stmt inner = Loop(p.j, Expr(5) - Max(Expr(2) - p.i, Expr(0)), p.B(p.j, p.A(p.j)), ForKind::kUnrolled);
  Stmt s = Specialize(Loop(p.i, 6, inner));
  std::string text = Text(s);
  EXPECT_THAT(text, HasSubstr("for unrolled (j, 0, 3)"));
  EXPECT_THAT(text, HasSubstr("for unrolled (j, 0, 4)"));
  EXPECT_THAT(text, HasSubstr("for (i, 2, 4)"));
}

TEST(Partition, PaddingBecomesZerosCopyZeros) {
  Program p;
  Expr inside = p.i >= Expr(1) && p.i < Expr(9);
  Stmt s = Loop(p.i, 10, p.B(p.i, ir::MakeIfThenElse(inside, p.A(p.i - 1), ir::Imm(kF32, 0))));
  EXPECT_EQ(Simple(PartitionConditions(s)),
            "b[0] = 0.0f;\n"
            "for (i, 1, 8)\n"
            "  b[i] = a[i - 1];\n"
            "b[9] = 0.0f;\n");
}

TEST(Partition, WhatNoConstantDecidesLeavesInnerLoops) {
  Program p;
  Expr inside = p.i + p.j >= Expr(1);
  Stmt s = Loop(p.i, 4, Loop(p.j, 4, Loop(p.k, 8, p.B(p.k, ir::MakeIfThenElse(inside, p.A(p.k), ir::Imm(kF32, 0))))));
  EXPECT_EQ(Text(PartitionConditions(s)),
            "for (i, 0, 4)\n"
            "  for (j, 0, 4)\n"
            "    if (0 < i + j)\n"
            "      for (k, 0, 8)\n"
            "        b[k] = a[k];\n"
            "    else\n"
            "      for (k, 0, 8)\n"
            "        b[k] = 0.0f;\n");
}

TEST(Partition, NeverAndAlways) {
  Program p;
  auto pad = [&](Expr c) { return Loop(p.i, 4, p.B(p.i, ir::MakeIfThenElse(c, p.A(p.i), ir::Imm(kF32, 0)))); };
  EXPECT_EQ(Simple(PartitionConditions(pad(p.i >= Expr(4)))), "for (i, 0, 4)\n  b[i] = 0.0f;\n");
  EXPECT_EQ(Simple(PartitionConditions(pad(p.i < Expr(4)))), "for (i, 0, 4)\n  b[i] = a[i];\n");
}

// Found by agree: after the first copy of a body, its loops' ranges were still assumed for the second one.
TEST(Partition, CopiesOfABodyDoNotMixTheirRanges) {
  Program p;
  Expr inside = p.i < Expr(4) && p.j >= Expr(1);
  Stmt part = Loop(p.i, 5, Loop(p.j, 3, p.B(p.j, ir::MakeIfThenElse(inside, p.A(p.j - 1), ir::Imm(kF32, 0)))));
  const std::string once = Text(PartitionConditions(part));
  EXPECT_EQ(Text(PartitionConditions(ir::MakeBlock({part, part}))), once + once);
}

// What threads reduce in vectors: the last one has a tail, and nothing behind it.
TEST(Partition, TheLastThreadHasItsOwnTail) {
  Program p;
  Expr at = p.i * 24 + p.j * 4 + p.k;
  Stmt add = ir::MakeIf(at < Expr(62), p.B(p.k, p.A(at)));
  Stmt s = Loop(p.i, 3, Loop(p.j, 6, Loop(p.k, 4, add, ForKind::kVectorized)), ForKind::kParallel);
  EXPECT_EQ(Simple(PartitionConditions(s)),
            "for parallel (i, 0, 3)\n"
            "  if (i < 2)\n"
            "    for (j, 0, 6)\n"
            "      for vectorized (k, 0, 4)\n"
            "        b[k] = a[i*24 + j*4 + k];\n"
            "  else\n"
            "    for (j, 0, 3)\n"
            "      for vectorized (k, 0, 4)\n"
            "        b[k] = a[j*4 + k + 48];\n"
            "    for vectorized (k, 0, 2)\n"
            "      b[k] = a[k + 60];\n");
}

TEST(Vectorize, MemoryAccesses) {
  Program p;
  struct Case {
    Stmt body;
    const char* after;
  };
  const Case cases[] = {
      {p.B(p.i * 8 + p.j, p.A(p.j)), "b[ramp(i*8, 1, 8)] = a[ramp(0, 1, 8)];\n"},
      {p.B(p.i * 8 + p.j, p.A(p.i)), "b[ramp(i*8, 1, 8)] = broadcast(a[i], 8);\n"},
      {p.B(p.j, p.A(p.j * 3 + p.i)), "b[ramp(0, 1, 8)] = a[ramp(i, 3, 8)];\n"},
      {p.B(p.j, p.A(p.j) * ir::Imm(kF32, 2)), "b[ramp(0, 1, 8)] = a[ramp(0, 1, 8)]*broadcast(2.0f, 8);\n"},
      {p.B(p.j, ir::MakeIfThenElse(p.i < Expr(3), p.A(p.j), ir::Imm(kF32, 0))),
       "b[ramp(0, 1, 8)] = if_then_else(i < 3, a[ramp(0, 1, 8)], broadcast(0.0f, 8));\n"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(Text(Must(VectorizeLoops(Loop(p.j, 8, c.body, ForKind::kVectorized)))), c.after);
  }
}

TEST(Vectorize, GatherWhereTheIndexIsNotLinear) {
  Program p;
  Stmt s = Must(VectorizeLoops(Loop(p.j, 4, p.B(p.j, p.A(p.j / 2)), ForKind::kVectorized)));
  const auto* load = s.as<ir::Store>()->value.as<ir::Load>();
  ASSERT_NE(load, nullptr) << Text(s);
  EXPECT_EQ(load->index.type().lanes, 4);
  EXPECT_EQ(load->index.as<ir::Ramp>(), nullptr);
}

TEST(Vectorize, SerialWhereItCannotBe) {
  Program p;
  const Stmt bodies[] = {
      p.B(p.j, ir::MakeIfThenElse(p.j < Expr(3), p.A(p.j), ir::Imm(kF32, 0))),            // a condition a lane
      ir::MakeIf(p.j < Expr(3), p.B(p.j, p.A(p.j))), Loop(p.k, p.j, p.B(p.j, p.A(p.k))),  // an extent a lane
      p.B(p.i, p.A(p.j)),                                                                 // all lanes to one place
  };
  for (const Stmt& body : bodies) {
    EXPECT_EQ(Text(Must(VectorizeLoops(Loop(p.j, 8, body, ForKind::kVectorized)))), Text(Loop(p.j, 8, body)));
  }
}

TEST(Vectorize, TooManyLanesAreRefused) {
  Program p;
  Result<Stmt> s = VectorizeLoops(Loop(p.j, 65, p.B(p.j, p.A(p.j)), ForKind::kVectorized));
  EXPECT_THAT(s.status().message(), HasSubstr("`j` has 65 iterations"));
}

TEST(Unroll, CopiesWithConstantIndices) {
  Program p;
  Stmt s = Loop(p.k, 9,
                Loop(p.i, 2, Loop(p.j, 2, p.B(p.i * 10 + p.j, p.A(p.k * 7 + p.i * 10 + p.j + 3)), ForKind::kUnrolled),
                     ForKind::kUnrolled));
  EXPECT_EQ(Text(UnrollLoops(s)),
            "for (k, 0, 9)\n"
            "  b[0] = a[k*7 + 3];\n"
            "  b[1] = a[k*7 + 4];\n"
            "  b[10] = a[k*7 + 13];\n"
            "  b[11] = a[k*7 + 14];\n");
}

TEST(Unroll, CopiesKeepTheSideOfASelectionThatTheyDecide) {
  Program p;
  Expr pick =
      ir::MakeSelect(ir::Eq(p.i, Expr(0)), p.A(p.k), ir::MakeSelect(ir::Eq(p.i, Expr(1)), p.A(p.i), p.A(p.k + 5)));
  EXPECT_EQ(Text(UnrollLoops(Loop(p.k, 9, Loop(p.i, 3, p.B(p.i, pick), ForKind::kUnrolled)))),
            "for (k, 0, 9)\n"
            "  b[0] = a[k];\n"
            "  b[1] = a[1];\n"
            "  b[2] = a[k + 5];\n");
}

TEST(Unroll, CopiesShareTheBaseOfTheirIndices) {
  Program p;
  Stmt s = UnrollLoops(Loop(p.k, 9, Loop(p.i, 2, p.B(p.k * 5 + p.i + 1, ir::Imm(kF32, 0)), ForKind::kUnrolled)));
  const auto& stmts = s.as<ir::For>()->body.as<ir::Block>()->stmts;
  const auto *first = stmts[0].as<ir::Store>()->index.as<ir::Binary>(),
             *second = stmts[1].as<ir::Store>()->index.as<ir::Binary>();
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->a.same_as(second->a));
}

TEST(Unroll, ConditionsAndExtentsOfACopyAreDecided) {
  Program p;
  Stmt condition = ir::MakeIf(p.i < Expr(1), p.B(p.i, p.A(0)), p.B(p.i, p.A(1)));
  EXPECT_EQ(Text(UnrollLoops(Loop(p.i, 2, condition, ForKind::kUnrolled))), "b[0] = a[0];\nb[1] = a[1];\n");
  Stmt ragged = Loop(p.i, 3, Loop(p.j, p.i, p.B(p.i * 3 + p.j, p.A(p.j)), ForKind::kUnrolled), ForKind::kUnrolled);
  EXPECT_EQ(Text(UnrollLoops(ragged)), "b[3] = a[0];\nb[6] = a[0];\nb[7] = a[1];\n");
}

TEST(Unroll, NothingToDoGivesTheSameStatement) {
  Program p;
  Stmt s = Loop(p.i, 4, p.B(p.i, p.A(p.i)));
  EXPECT_TRUE(UnrollLoops(s).same_as(s));
  EXPECT_TRUE(InjectPrefetches(s).same_as(s));
  EXPECT_TRUE(VectorizeLoops(s)->same_as(s));
  EXPECT_TRUE(PartitionConditions(s).same_as(s));
  EXPECT_TRUE(AssignStorage(s)->same_as(s));
}

TEST(Prefetch, OneForEachDistinctLoad) {
  Program p;
  Stmt body = ir::MakeBlock(
      {p.B(0, p.A(p.i * 32) + p.A(p.i * 32 + 16)), p.B(1, p.A(p.i * 32)), Loop(p.j, 2, p.B(2, p.A(p.j)))});
  Stmt s = Loop(p.i, 4, ir::MakePragma("prefetch:a", Expr(64), body));
  std::string text = Text(InjectPrefetches(s));
  EXPECT_EQ(text.rfind("for (i, 0, 4)\n"
                       "  prefetch(a[i*32 + 64], 3);\n"
                       "  prefetch(a[i*32 + 80], 3);\n"
                       "  prefetch(a[64], 3);\n"
                       "  b[0] =",
                       0),
            0u)
      << text;
}

// Sixteen lines of 16 floats over a nest of 2 x 4 iterations: two per iteration, in order.
TEST(Prefetch, ManyLinesAreSpreadOverTheLoopsInside) {
  Program p;
  Stmt inner = Loop(p.j, 4, p.B(0, p.A(p.i * 128 + p.j * 32) + p.A(p.i * 128 + p.j * 32 + 16)));
  Stmt s = ir::MakePragma("prefetch2:a", Expr(256), Loop(p.i, 2, inner));
  std::string text = Text(InjectPrefetches(s));
  EXPECT_THAT(text, HasSubstr("  for (j, 0, 4)\n"
                              "    prefetch(a[i*128 + j*32 + 256], 2);\n"
                              "    prefetch(a[i*128 + j*32 + 272], 2);\n"
                              "    b[0] ="));
}

TEST(Prefetch, LinesThatAreWrittenCount) {
  Program p;
  Stmt s = ir::MakePragma("prefetch:b", Expr(0), ir::MakeBlock({p.B(0, p.A(0)), p.B(3, p.A(1)), p.B(16, p.A(2))}));
  EXPECT_EQ(Text(InjectPrefetches(s)).rfind("prefetch(b[0], 3);\nprefetch(b[16], 3);\nb[0] =", 0), 0u)
      << Text(InjectPrefetches(s));
}

// x[i*2 + j - 1] for i < 4, j < 2 unrolled: only i = 0 reaches the border.
TEST(Partition, ABorderInARegisterTileIsWrittenOut) {
  Program p;
  Expr at = p.i * 2 + p.j - 1;
  Expr value = ir::MakeIfThenElse(Expr(0) <= at, p.A(at), ir::Imm(DType::Float(32), 0));
  Stmt update = ir::MakeStore(p.b, p.j, ir::MakeLoad(p.b, p.j) + value);
  Stmt cut = PartitionConditions(Loop(p.i, 4, Loop(p.j, 2, update, ForKind::kUnrolled)));
  std::string text = Text(UnrollLoops(arith::SimplifyStmt(cut)));
  EXPECT_EQ(text,
            "b[1] = b[1] + a[0];\n"
            "for (i, 1, 3)\n"
            "  b[0] = b[0] + a[i*2 - 1];\n"
            "  b[1] = b[1] + a[i*2];\n");
}

TEST(Storage, RegistersNeedConstantIndices) {
  Program p;
  auto program = [&](Expr index) {
    Buffer acc = Buffer::Make("acc", kF32, 8, ir::Scope::kRegister);
    Stmt use = Loop(p.i, 8, p.B(p.i, ir::MakeLoad(acc, index)));
    Stmt s = *AssignStorage(ir::MakeAllocate(acc, ir::MakeBlock({ir::MakeStore(acc, 0, ir::Imm(kF32, 1)), use})));
    return s.as<ir::Allocate>()->buffer->scope;
  };
  EXPECT_EQ(program(0), ir::Scope::kRegister);
  EXPECT_EQ(program(p.i), ir::Scope::kScratch);
}

}  // namespace
}  // namespace hone::lower
