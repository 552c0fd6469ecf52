// Before and after each pass for GPUs, as text. The expectations are written by hand from the promises of the passes'
// headers.
#include "lower/passes.h"
#include "unit/lower/loops.h"

namespace hone::lower {
namespace {

struct Program {
  Var i{"i"}, j{"j"}, v{"v"}, tx{"tx"}, bx{"bx"};
  Buffer a = Buffer::Make("a", kF32, 1000, ir::Scope::kArgument);
  Buffer b = Buffer::Make("b", kF32, 1000, ir::Scope::kArgument, true);
  Buffer s = Buffer::Make("s", kF32, 8, ir::Scope::kShared);
  Buffer r = Buffer::Make("r", kF32, 4, ir::Scope::kRegister);
  Expr one = ir::Imm(kF32, 1);
  Expr A(Expr index) const { return ir::MakeLoad(a, index); }
  Expr S(Expr index) const { return ir::MakeLoad(s, index); }
  Stmt PutB(Expr index, Expr value) const { return ir::MakeStore(b, index, value); }
  Stmt PutS(Expr index, Expr value) const { return ir::MakeStore(s, index, value); }
};

TEST(VThread, GoesInwardsAndPrivateMemoryGrows) {
  Program p;
  Stmt sum = ir::MakeStore(p.r, p.j, ir::MakeLoad(p.r, p.j) + p.S(p.i) * p.A(p.v * 4 + p.j));
  Stmt body = ir::MakeBlock({Loop(p.i, 8, ir::MakeBlock({p.PutS(p.i, p.A(p.i)), Loop(p.j, 4, sum)}))});
  EXPECT_EQ(Simple(*SpreadVThreads(Loop(p.v, 2, ir::MakeAllocate(p.r, body), ForKind::kVThread))),
            "allocate r: f32[8] register\n"
            "  for (i, 0, 8)\n"
            "    s[i] = a[i];\n"  // once: no virtual thread is different
            "    for (j, 0, 4)\n"
            "      for unrolled (v, 0, 2)\n"
            "        r[j + v*4] = r[j + v*4] + s[i]*a[j + v*4];\n");
}

TEST(VThread, WhatDependsOnWhatDiffersGrowsToo) {
  Program p;
  Buffer t = Buffer::Make("t", kF32, 1, ir::Scope::kRegister);
  Stmt body = ir::MakeBlock(
      {ir::MakeStore(p.r, 0, p.A(p.v)), ir::MakeStore(t, 0, ir::MakeLoad(p.r, 0)), p.PutB(p.v, ir::MakeLoad(t, 0))});
  std::string text =
      Simple(*SpreadVThreads(Loop(p.v, 3, ir::MakeAllocate(p.r, ir::MakeAllocate(t, body)), ForKind::kVThread)));
  EXPECT_THAT(text, HasSubstr("allocate r: f32[12]"));
  EXPECT_THAT(text, HasSubstr("allocate t: f32[3]"));
  EXPECT_FALSE(SpreadVThreads(Loop(p.v, kMaxVThreads + 1, p.PutB(p.v, p.one), ForKind::kVThread)).ok());
}

TEST(GpuThreads, SharedMemoryIsTheBlocks) {
  Program p;
  Stmt inner = Loop(p.i, 4, ir::MakeAllocate(p.s, ir::MakeBlock({p.PutS(p.tx, p.one), p.PutB(p.i, p.S(p.tx))})));
  EXPECT_EQ(Text(HoistShared(Loop(p.bx, 2, Loop(p.tx, 8, inner, ForKind::kThreadX), ForKind::kBlockX))),
            "for blockIdx.x (bx, 0, 2)\n"
            "  allocate s: f32[8] shared\n"
            "    for threadIdx.x (tx, 0, 8)\n"
            "      for (i, 0, 4)\n"
            "        s[tx] = 1.0f;\n"
            "        b[i] = s[tx];\n");
}

// The body of 8 threads with its barriers.
std::string Barriers(const Program& p, const Stmt& body) {
  std::string text = Text(PlaceBarriers(arith::SimplifyStmt(Loop(p.tx, 8, body, ForKind::kThreadX))));
  std::string inside;
  size_t at = text.find('\n') + 1;
  while (text.compare(at, 2, "  ") == 0) {
    const size_t end = text.find('\n', at);
    inside += text.substr(at + 2, end - at - 1);
    at = end + 1;
  }
  return inside;
}

TEST(Barriers, WhereThreadsHandOverAndInLoopsAtTheHead) {
  Program p;
  EXPECT_EQ(Barriers(p, Loop(p.i, 4, ir::MakeBlock({p.PutS(p.tx, p.A(p.tx)), p.PutB(p.tx, p.S(Expr(7) - p.tx))}))),
            "for (i, 0, 4)\n"
            "  barrier;\n"
            "  s[tx] = a[tx];\n"
            "  barrier;\n"
            "  b[tx] = s[tx*-1 + 7];\n");
}

TEST(Barriers, NowhereElse) {
  Program p;
  // A thread's own element, even if each thread has several.
  EXPECT_EQ(Barriers(p, ir::MakeBlock({p.PutS(p.tx, p.one), p.PutB(p.tx, p.S(p.tx))})),
            "s[tx] = 1.0f;\nb[tx] = s[tx];\n");
  Var other("k");
  Stmt fill = Loop(p.i, 2, p.PutS(p.i * 8 + p.tx, p.one)), use = Loop(other, 2, p.PutB(other, p.S(other * 8 + p.tx)));
  EXPECT_THAT(Barriers(p, ir::MakeBlock({fill, use})), Not(HasSubstr("barrier")));
  // Disjoint ranges.
  Stmt low = ir::MakeIf(Expr(p.tx) < 4, p.PutS(p.tx, p.one)), high = p.PutB(p.tx, p.S(Expr(p.tx) / 2 + 4));
  EXPECT_THAT(Barriers(p, ir::MakeBlock({low, high})), Not(HasSubstr("barrier")));
  // Only reads; the identity and the update of one result.
  EXPECT_THAT(Barriers(p, ir::MakeBlock({p.PutB(p.tx, p.S(0)), p.PutB(p.tx, p.S(1))})), Not(HasSubstr("barrier")));
  Stmt update = Loop(p.i, 4, p.PutS(Expr(p.tx) / 3, p.S(Expr(p.tx) / 3) + p.A(p.i)));
  EXPECT_THAT(Barriers(p, ir::MakeBlock({p.PutS(Expr(p.tx) / 3, p.one), update})), Not(HasSubstr("barrier")));
}

TEST(Barriers, BeforeALoopRatherThanInIt) {
  Program p;
  EXPECT_EQ(Barriers(p, ir::MakeBlock({p.PutS(p.tx, p.one), Loop(p.i, 8, p.PutB(p.i, p.S(p.i)))})),
            "s[tx] = 1.0f;\n"
            "barrier;\n"
            "for (i, 0, 8)\n"
            "  b[i] = s[i];\n");
}

TEST(Barriers, TheHalvesOfADoubleBufferNeedOneARound) {
  Program p;
  Stmt use = p.PutB(p.tx, p.S(Expr(p.i) % 2 * 4 + Expr(p.tx) / 2));
  Stmt fill = p.PutS((Expr(p.i) + 1) % 2 * 4 + Expr(p.tx) % 4, p.A(p.tx));
  EXPECT_EQ(Barriers(p, Loop(p.i, 6, ir::MakeBlock({use, fill}))),
            "for (i, 0, 6)\n"
            "  barrier;\n"
            "  b[tx] = s[tx/2 + i%2*4];\n"
            "  s[tx%4 + (i + 1)%2*4] = a[tx];\n");
  // Two halves, one of which extends into the other.
  Stmt wide = p.PutB(p.tx, p.S(Expr(p.i) % 2 * 4 + p.tx));
  const std::string text = Barriers(p, Loop(p.i, 6, ir::MakeBlock({wide, fill})));
  EXPECT_NE(text.find("barrier"), text.rfind("barrier")) << text;
}

// If the modulo of two iterations is simplified away, the condition of the last one distinguishes the halves.
TEST(Barriers, HalvesThatConditionsTellApart) {
  Program p;
  Stmt use = p.PutB(p.tx, p.S(Expr(p.i) * 8 + 7 - p.tx));
  const auto fill = [&](int64_t at) { return ir::MakeIf(Expr(p.i) < 1, p.PutS(Expr(p.tx) + at, p.A(p.tx))); };
  EXPECT_EQ(Barriers(p, Loop(p.i, 2, ir::MakeBlock({use, fill(8)}))),
            "for (i, 0, 2)\n"
            "  barrier;\n"
            "  b[tx] = s[tx*-1 + i*8 + 7];\n"
            "  if (i < 1)\n"
            "    s[tx + 8] = a[tx];\n");
  const std::string text = Barriers(p, Loop(p.i, 2, ir::MakeBlock({use, fill(7)})));
  EXPECT_NE(text.find("barrier"), text.rfind("barrier")) << text;
  // After an inner loop, its variable may have any value.
  Stmt all = Loop(p.j, 2, p.PutB(p.tx, p.S(Expr(p.i) * 8 + Expr(p.j) * 8 + 7 - p.tx)));
  const std::string inner = Barriers(p, Loop(p.i, 2, ir::MakeBlock({all, fill(8)})));
  EXPECT_NE(inner.find("barrier"), inner.rfind("barrier")) << inner;
}

// The last iteration has read only the second half, after the barrier that all threads reached.
TEST(Barriers, BehindALoopItsLastRoundCounts) {
  Program p;
  Stmt use = p.PutB(p.tx, p.S(Expr(p.i) * 8 + 7 - p.tx));
  Stmt fill = ir::MakeIf(Expr(p.i) < 1, p.PutS(Expr(p.tx) + 8, p.A(p.tx)));
  const auto rounds = [&](int64_t at) {
    return Loop(p.j, 3, ir::MakeBlock({p.PutS(Expr(p.tx) + at, p.A(p.j)), Loop(p.i, 2, ir::MakeBlock({use, fill}))}));
  };
  EXPECT_EQ(Barriers(p, rounds(0)),
            "for (j, 0, 3)\n"
            "  s[tx] = a[j];\n"
            "  for (i, 0, 2)\n"
            "    barrier;\n"
            "    b[tx] = s[tx*-1 + i*8 + 7];\n"
            "    if (i < 1)\n"
            "      s[tx + 8] = a[tx];\n");
  EXPECT_THAT(Barriers(p, rounds(1)), HasSubstr("(j, 0, 3)\n  barrier"));
}

TEST(Barriers, WhereOneThreadGetsToItIsKnownWhich) {
  Program p;
  const auto use = [&](int64_t at) { return ir::MakeIf(Expr(p.tx) < 1, p.PutB(0, p.S(at))); };
  Stmt fill = p.PutS(Expr(p.tx) * 2, p.one);
  EXPECT_THAT(Barriers(p, ir::MakeBlock({fill, use(0)})), Not(HasSubstr("barrier")));
  EXPECT_THAT(Barriers(p, ir::MakeBlock({fill, use(1)})), Not(HasSubstr("barrier"))) << "nobody's";
  EXPECT_THAT(Barriers(p, ir::MakeBlock({fill, use(2)})), HasSubstr("barrier")) << "thread 1's";
  // All threads read what thread 0 has stored.
  Stmt first = ir::MakeIf(Expr(p.tx) < 1, p.PutS(0, p.one));
  EXPECT_THAT(Barriers(p, ir::MakeBlock({first, p.PutB(p.tx, p.S(0))})), HasSubstr("barrier"));
}

TEST(DoubleBuffer, FetchesTheNextRoundIntoRegisters) {
  Program p;
  Stmt fill =
      ir::MakePragma(kDoubleBufferPragma, 1, Loop(p.j, 2, p.PutS(p.j * 4 + p.tx, p.A(p.i * 8 + p.j * 4 + p.tx))));
  Stmt loop = Loop(p.i, 5, ir::MakeBlock({fill, p.PutB(p.i, p.S(p.tx))}));
  EXPECT_EQ(Simple(Loop(p.tx, 4, DoubleBuffers(ir::MakeAllocate(p.s, loop)), ForKind::kThreadX)),
            "for threadIdx.x (tx, 0, 4)\n"
            "  allocate s: f32[16] shared\n"
            "    for (j, 0, 2)\n"
            "      s[tx + j*4] = a[tx + j*4];\n"
            "    for (i, 0, 5)\n"
            "      allocate s.next: f32[2] register\n"
            "        if (i < 4)\n"
            "          for unrolled (j, 0, 2)\n"
            "            s.next[j] = a[tx + i*8 + j*4 + 8];\n"
            "        b[i] = s[tx + i%2*8];\n"
            "        if (i < 4)\n"
            "          for unrolled (j, 0, 2)\n"
            "            s[tx + (i + 1)%2*8 + j*4] = s.next[j];\n");
}

// Iterations 0 and 1 are fetched before; iteration i fetches the data of iteration i + 2 once all have used what it
// replaces. One barrier per iteration, and PlaceBarriers adds none.
TEST(DoubleBuffer, MoreStagesAreGroupsOfCopies) {
  Program p;
  Stmt copy = ir::MakePragma(kStagesPragma, 3, Loop(p.j, 2, p.PutS(p.j * 4 + p.tx, p.A(p.i * 8 + p.j * 4 + p.tx))));
  Stmt fill = ir::MakePragma(kDoubleBufferPragma, 1, copy);
  Stmt loop = Loop(p.i, 5, ir::MakeBlock({fill, p.PutB(p.tx, p.S(Expr(7) - p.tx))}));
  const Stmt kernel = Loop(p.tx, 4, DoubleBuffers(ir::MakeAllocate(p.s, loop)), ForKind::kThreadX);
  EXPECT_EQ(Text(PlaceBarriers(arith::SimplifyStmt(kernel))),
            "for threadIdx.x (tx, 0, 4)\n"
            "  allocate s: f32[24] shared\n"
            "    pragma async_group 1\n"
            "      for (j, 0, 2)\n"
            "        s[tx + j*4] = a[tx + j*4];\n"
            "    pragma async_group 1\n"
            "      for (j, 0, 2)\n"
            "        s[tx + j*4 + 8] = a[tx + j*4 + 8];\n"
            "    for (i, 0, 5)\n"
            "      pragma async_wait 1\n"
            "        barrier;\n"
            "      pragma async_group 1\n"
            "        if (i < 3)\n"
            "          for (j, 0, 2)\n"
            "            s[tx + (i + 2)%3*8 + j*4] = a[tx + i*8 + j*4 + 16];\n"
            "      b[tx] = s[tx*-1 + i%3*8 + 7];\n");
}

TEST(DoubleBuffer, ANoteWithoutALoopIsDropped) {
  Program p;
  Stmt fill = ir::MakePragma(kDoubleBufferPragma, 1, p.PutS(p.tx, p.one));
  EXPECT_EQ(Text(DoubleBuffers(ir::MakeBlock({fill, p.PutB(p.tx, p.S(0))}))), "s[tx] = 1.0f;\nb[tx] = s[0];\n");
}

TEST(AutoUnroll, InnermostLoopsUpToTheLimit) {
  Program p;
  Stmt loops = Loop(p.i, 8, Loop(p.j, 4, p.PutB(p.i * 4 + p.j, p.one)));
  auto with = [&](int64_t most, int64_t written_out, bool cpu = false) {
    const Stmt told = ir::MakePragma("unroll_explicit", written_out, loops);
    return Text(AutoUnroll(ir::MakePragma("auto_unroll_max_step", most, told), cpu));
  };
  EXPECT_EQ(with(3, 1), Text(loops));
  EXPECT_EQ(with(31, 1),
            "for (i, 0, 8)\n"
            "  for unrolled (j, 0, 4)\n"
            "    b[i*4 + j] = 1.0f;\n");
  EXPECT_EQ(with(32, 0),
            "pragma unroll 8\n"
            "  for (i, 0, 8)\n"
            "    pragma unroll 4\n"
            "      for (j, 0, 4)\n"
            "        b[i*4 + j] = 1.0f;\n");
  EXPECT_EQ(with(31, 0, /*cpu=*/true), with(31, 1)) << "no compiler of a device does it";
}

TEST(AutoUnroll, WhatASchedulesOwnNoteSaysStaysAndEndsThere) {
  Program p;
  auto with = [&](int64_t rounds) {
    Stmt inner = ir::MakePragma(kUnrollPragma, rounds, Loop(p.j, 6, p.PutB(p.i * 6 + p.j, p.one)));
    return Text(AutoUnroll(ir::MakePragma("auto_unroll_max_step", 400, Loop(p.i, 8, inner)), false));
  };
  // Unrolling by four leaves a loop, and a loop around a loop is not unrolled.
  EXPECT_EQ(with(4),
            "for (i, 0, 8)\n"
            "  pragma unroll 4\n"
            "    for (j, 0, 6)\n"
            "      b[i*6 + j] = 1.0f;\n");
  // The extent, or more, unrolls the whole loop.
  EXPECT_EQ(with(6), with(8));
  EXPECT_EQ(with(8).substr(0, with(8).find('\n')), "pragma unroll 8");
  EXPECT_THAT(with(8), HasSubstr("pragma unroll 6"));
}

TEST(AutoUnroll, NeverMoreInARowThanCompilersCanTake) {
  Program p;
  Stmt loops = Loop(p.i, kMostSteps + 1, p.PutB(p.i, p.one));
  EXPECT_EQ(Text(AutoUnroll(ir::MakePragma("auto_unroll_max_step", 2 * kMostSteps, loops), false)), Text(loops));
}

TEST(Vectorize, AConditionThatIsOneForAllLanesIsMadeOnce) {
  Program p;
  auto loop = [&](int64_t n) {
    Expr at = p.tx * 4 + p.j;
    return Loop(p.j, 4, ir::MakeIf(at < Expr(n), p.PutB(at, p.A(at))), ForKind::kVectorized);
  };
  EXPECT_EQ(Text(*VectorizeLoops(loop(100), true)),
            "if (tx < 25)\n"
            "  b[ramp(tx*4, 1, 4)] = a[ramp(tx*4, 1, 4)];\n");
  EXPECT_EQ((*VectorizeLoops(loop(99), true)).as<ir::For>()->for_kind, ForKind::kSerial);
  EXPECT_EQ((*VectorizeLoops(loop(100), false)).as<ir::For>()->for_kind, ForKind::kSerial);
}

}  // namespace
}  // namespace hone::lower
