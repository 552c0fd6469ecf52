// Loops, branches, allocations of every scope, parallel loops: compiled and interpreted.
#include "compiled.h"

namespace hone::codegen {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::ForKind;
using ir::Scope;
using ir::Stmt;
using ir::Var;

const DType kF32 = DType::Float(32);

Expr Vec(const Expr& base, int lanes) { return ir::MakeRamp(base, Expr(1), lanes); }
Expr F(const Expr& e) { return ir::MakeCast(DType::Float(32).WithLanes(e.type().lanes), e); }

std::vector<float> Numbers(int n) {
  std::vector<float> v(n);
  for (int i = 0; i < n; ++i) v[i] = static_cast<float>((i * 37) % 64 - 20);
  return v;
}

TEST(Stmt, LoopsWithOddBounds) {
  auto out = Output("out", DType::Int(64), 400);
  Var i("i"), j("j"), k("k"), e("e");
  // Triangular, empty, of one iteration, with a minimum that is not 0 and may be negative.
  Stmt inner = MakeFor(j, Expr(i) - 3, Expr(i) % 4, ForKind::kSerial,
                       MakeStore(out, Expr(i) * 20 + j + 3, Expr(j) * 3 + Expr(i) / 2 - (Expr(j) - 1) / 3));
  Stmt one = MakeFor(k, Expr(i) * 2, 1, ForKind::kSerial, MakeStore(out, Expr(k) + 300, Expr(k) % 7));
  Stmt none = MakeFor(e, 5, 0, ForKind::kSerial, MakeStore(out, Expr(e), Expr(99)));
  Stmt ragged = Loop(k, ir::Min(Expr(3), Expr(10) - Expr(i) * 3), MakeStore(out, Expr(350) + Expr(i) * 3 + k, Expr(k)));
  ir::Function f{"f", {out}, Loop(i, 13, ir::MakeBlock({inner, one, none, ragged}))};
  ExpectAgrees(f, {Bytes(3200)});
}

// The same loop variable in two places with different constants: a value computed for one must not be reused for the
// other.
TEST(Stmt, SharedVariablesOfOneIteration) {
  auto a = Argument("a", kF32, 64);
  auto out = Output("out", kF32, 64);
  Var i("i"), v("v");
  auto copy = [&](int64_t min, int64_t to) {
    return MakeFor(v, Expr(min), 1, ForKind::kSerial,
                   MakeStore(out, Expr(i) * 8 + to, MakeLoad(a, Expr(i) * 2 + Expr(v) * 5)));
  };
  Stmt both = MakeIf(Expr(i) < Expr(4), ir::MakeBlock({copy(3, 0), copy(7, 1)}), copy(1, 2));
  ir::Function f{"f", {a, out}, Loop(i, 8, both)};
  ExpectAgrees(f, {ToBytes(Numbers(64)), Bytes(256)});
}

TEST(Stmt, LoadsSeeStoresBetweenThem) {
  auto x = Output("x", kF32, 8);
  Var i("i");
  Expr here = MakeLoad(x, Expr(i));
  Stmt twice = MakeStore(x, Expr(i), here + here);
  Stmt body = ir::MakeBlock({twice, MakeIf(Expr(i) % 2 < Expr(1), twice, MakeStore(x, Expr(i), here - 1)), twice});
  ir::Function f{"f", {x}, Loop(i, 8, body)};
  ExpectAgrees(f, {ToBytes(Numbers(8))});
}

TEST(Stmt, ScratchAndWorkspaceNest) {
  auto a = Argument("a", kF32, 30);
  auto out = Output("out", kF32, 30);
  auto wide = Buffer::Make("wide", kF32, 30, Scope::kWorkspace);
  auto row1 = Buffer::Make("row1", kF32, 5, Scope::kScratch);
  auto row2 = Buffer::Make("row2", kF32, 7, Scope::kScratch);
  Var i("i"), j("j"), k("k");
  Stmt fill = Loop(k, 30, MakeStore(wide, Expr(29) - k, MakeLoad(a, Expr(k))));
  Stmt first = Loop(j, 5, MakeStore(row1, Expr(j), MakeLoad(wide, Expr(i) * 5 + j)));
  Stmt second = Loop(j, 5, MakeStore(row2, Expr(j) + 1, MakeLoad(row1, Expr(4) - j) * 2));
  Stmt last = Loop(j, 5, MakeStore(out, Expr(i) * 5 + j, MakeLoad(row2, Expr(j) + 1) + MakeLoad(row1, Expr(j))));
  Stmt inside = MakeAllocate(row1, ir::MakeBlock({first, MakeAllocate(row2, ir::MakeBlock({second, last}))}));
  for (ForKind kind : {ForKind::kSerial, ForKind::kParallel}) {
    Stmt all = MakeAllocate(wide, ir::MakeBlock({fill, MakeFor(i, 0, 6, kind, inside)}));
    ir::Function f{"f", {a, out}, all};
    ExpectAgrees(f, {ToBytes(Numbers(30)), Bytes(120)});
    auto code = Must(CompileToObject({f}, HostForTest(), {}));
    // Rounded up to 64 bytes each: 30 floats are 120 bytes; 5 and 7 floats are alive at once.
    EXPECT_EQ(code.entries[0].workspace_bytes, 128);
    EXPECT_EQ(code.entries[0].scratch_bytes, 128);
  }
}

TEST(Stmt, EntryDescribesTheArguments) {
  auto a = Argument("a", DType::UInt(8), 10);
  auto out = Output("out", DType::UInt(8), 20);
  Var i("i");
  ir::Function f{"widen", {a, out}, Loop(i, 10, MakeStore(out, Expr(i) * 2, MakeLoad(a, Expr(i))))};
  auto code = Must(CompileToObject({f}, HostForTest(), {}));
  const EntryPoint& entry = code.entries.at(0);
  EXPECT_EQ(entry.symbol, "widen");
  ASSERT_EQ(entry.args.size(), 2U);
  EXPECT_EQ(entry.args[1].name, "out");
  EXPECT_EQ(entry.args[1].elements, 20);
  EXPECT_EQ(entry.args[1].type, DType::UInt(8));
  EXPECT_TRUE(entry.args[1].written);
  EXPECT_FALSE(entry.args[0].written);
}

TEST(Stmt, ParallelLoopsOfAllExtents) {
  auto a = Argument("a", kF32, 70);
  auto out = Output("out", kF32, 70);
  for (int extent : {0, 1, 2, 3, 5, 7}) {
    Var outer("outer"), i("i"), j("j");
    Stmt row = Loop(j, 5,
                    MakeStore(out, Expr(outer) * 35 + (Expr(i) - 2) * 5 + j,
                              MakeLoad(a, Expr(outer) * 35 + Expr(34) - (Expr(i) - 2) * 5 - j) + F(Expr(i) * outer)));
    // Captures a variable of the loop around it; starts at 2.
    Stmt f_body = Loop(outer, 2, MakeFor(i, 2, Expr(extent), ForKind::kParallel, row));
    ExpectAgrees({"f", {a, out}, f_body}, {ToBytes(Numbers(70)), Bytes(280)});
  }
}

TEST(Stmt, ParallelInsideParallelRunsSerially) {
  auto out = Output("out", DType::Int(64), 42);
  Var i("i"), j("j");
  Stmt inner = MakeFor(j, 0, 7, ForKind::kParallel, MakeStore(out, Expr(i) * 7 + j, Expr(i) * 100 + j));
  ExpectAgrees({"f", {out}, MakeFor(i, 0, 6, ForKind::kParallel, inner)}, {Bytes(336)});
}

// acc[4 x lanes] in registers over a reduction, as a convolution has it.
Stmt Accumulate(const Buffer& a, const Buffer& out, const Buffer& acc, const Var& i, int lanes) {
  std::vector<Stmt> init, update, finish;
  Var k("k");
  for (int t = 0; t < 4; ++t) {
    Expr slot = Vec(Expr(t * lanes), lanes);
    init.push_back(MakeStore(acc, slot, ir::Imm(kF32.WithLanes(lanes), 0)));
    update.push_back(MakeStore(
        acc, slot,
        MakeLoad(acc, slot) + MakeLoad(a, Vec(Expr(k) * lanes, lanes)) * F(ir::MakeBroadcast(Expr(i) + t, lanes))));
    finish.push_back(
        MakeStore(out, Vec(Expr(i) * (4 * lanes) + t * lanes, lanes), ir::Max(MakeLoad(acc, slot), ir::Imm(kF32, -5))));
  }
  Stmt reduce = Loop(k, 6, ir::MakeBlock(update));
  return MakeAllocate(acc, ir::MakeBlock({ir::MakeBlock(init), reduce, ir::MakeBlock(finish)}));
}

TEST(Stmt, RegisterBuffersBecomeValues) {
  for (int lanes : {2, 3, 8, 16}) {
    auto a = Argument("a", kF32, 6 * lanes);
    auto out = Output("out", kF32, 12 * lanes);
    auto acc = Buffer::Make("acc", kF32, 4 * lanes, Scope::kRegister);
    Var i("i");
    for (ForKind kind : {ForKind::kSerial, ForKind::kParallel}) {
      ir::Function f{"f", {a, out}, MakeFor(i, 0, 3, kind, Accumulate(a, out, acc, i, lanes))};
      ExpectAgrees(f, {ToBytes(Numbers(6 * lanes)), Bytes(48 * static_cast<size_t>(lanes))});
      auto code = Must(CompileToObject({f}, HostForTest(), {.keep_text = true}));
      EXPECT_THAT(code.llvm_ir, Not(HasSubstr("%acc = alloca")));
      EXPECT_EQ(code.entries[0].scratch_bytes, 0);
    }
  }
}

// Ranges that overlap are lanes of one value: a vector whose tail is updated, halves that are added up, one element.
TEST(Stmt, RegisterAccessesMayOverlap) {
  auto a = Argument("a", kF32, 77);
  auto out = Output("out", kF32, 9);
  auto sums = Buffer::Make("sums", kF32, 32, Scope::kRegister),
       halves = Buffer::Make("halves", kF32, 8, Scope::kRegister);
  Var i("i"), k("k");
  const auto add = [&](int lanes, const Expr& from) {
    return MakeStore(sums, Vec(Expr(0), lanes), MakeLoad(sums, Vec(Expr(0), lanes)) + MakeLoad(a, Vec(from, lanes)));
  };
  Stmt whole = Loop(k, 2, add(32, Expr(k) * 32));
  std::vector<Stmt> all = {MakeStore(sums, Vec(Expr(0), 32), ir::Imm(kF32.WithLanes(32), 0)), whole, add(13, Expr(64)),
                           MakeStore(halves, Vec(Expr(0), 8), MakeLoad(sums, Vec(Expr(0), 8)))};
  for (int part : {8, 16, 24}) {
    all.push_back(
        MakeStore(halves, Vec(Expr(0), 8), MakeLoad(halves, Vec(Expr(0), 8)) + MakeLoad(sums, Vec(Expr(part), 8))));
  }
  all.push_back(MakeStore(halves, Expr(5), F(Expr(i))));
  all.push_back(MakeStore(halves, Vec(Expr(2), 3), MakeLoad(halves, Vec(Expr(5), 3))));
  Expr sum = MakeLoad(halves, Expr(0));
  for (int lane = 1; lane < 8; ++lane) sum = sum + MakeLoad(halves, Expr(lane));
  all.push_back(MakeStore(out, Expr(i), sum));
  ir::Function f{"f", {a, out}, Loop(i, 9, MakeAllocate(sums, MakeAllocate(halves, ir::MakeBlock(all))))};
  ExpectAgrees(f, {ToBytes(Numbers(77)), Bytes(36)});
  EXPECT_THAT(Must(CompileToObject({f}, HostForTest(), {.keep_text = true})).llvm_ir, Not(HasSubstr("alloca")));
}

// With indices known only at run time, or as one value of more lanes than vectors may have, a register buffer is in
// memory.
TEST(Stmt, RegisterBuffersWithVariableIndices) {
  auto out = Output("out", kF32, 24);
  auto acc = Buffer::Make("acc", kF32, 8, Scope::kRegister);
  auto chain = Buffer::Make("chain", kF32, 100, Scope::kRegister);
  Var i("i"), j("j");
  Stmt fill = Loop(j, 8, MakeStore(acc, (Expr(j) * 3) % 8, F(Expr(i) * 10 + j)));
  std::vector<Stmt> pieces;
  for (int at = 0; at <= 96; at += 3)
    pieces.push_back(MakeStore(chain, Vec(Expr(at), 4), MakeLoad(acc, Vec(Expr(at % 5), 4))));
  Stmt use = MakeStore(out, Vec(Expr(i) * 8, 8), MakeLoad(chain, Vec(Expr(61), 8)));
  Stmt body = MakeAllocate(acc, MakeAllocate(chain, ir::MakeBlock({fill, ir::MakeBlock(pieces), use})));
  ExpectAgrees({"f", {out}, Loop(i, 3, body)}, {Bytes(96)});
  // Shared by the threads of a parallel loop inside, so also in memory.
  Stmt threads =
      MakeFor(i, 0, 3, ForKind::kParallel, MakeStore(out, Expr(i), MakeLoad(acc, Expr(0)) + MakeLoad(acc, Expr(1))));
  Stmt shared = MakeAllocate(acc, ir::MakeBlock({MakeStore(acc, Expr(0), ir::Imm(kF32, 3)),
                                                 MakeStore(acc, Expr(1), ir::Imm(kF32, 4)), threads}));
  ExpectAgrees({"f", {out}, shared}, {Bytes(96)});
}

TEST(Stmt, PrefetchAndPragmaChangeNothing) {
  auto a = Argument("a", kF32, 16);
  auto out = Output("out", kF32, 16);
  Var i("i");
  // The prefetched address may be anywhere, as a prefetch does not fault.
  Expr ahead = ir::MakeCall(kF32, ir::Intrinsic::kPrefetch, {MakeLoad(a, Expr(i) + 12), Expr(2)});
  Stmt body = ir::MakeBlock(
      {ir::MakeEvaluate(ahead), ir::MakePragma("note", Expr(1), MakeStore(out, Expr(i), MakeLoad(a, Expr(i))))});
  ir::Function f{"f", {a, out}, Loop(i, 16, body)};
  auto args = std::vector<Bytes>{ToBytes(Numbers(16)), Bytes(64)};
  EXPECT_EQ(RunCompiled(f, args, HostForTest()).at(1), args[0]);
  EXPECT_THAT(Must(CompileToObject({f}, HostForTest(), {.keep_text = true})).assembly, HasSubstr("prefetch"));
}

TEST(Stmt, CompilesForAnotherCpu) {
  auto out = Output("out", kF32, 16);
  ir::Function f{"f", {out}, MakeStore(out, Vec(Expr(0), 16), ir::Imm(kF32.WithLanes(16), 2))};
  Target arm{.triple = "aarch64-unknown-linux-gnu", .cpu = "cortex-a72"};
  auto code = Must(CompileToObject({f}, arm, {}));
  // ELF header: e_machine (offset 18) of AArch64 is 183.
  EXPECT_EQ(static_cast<unsigned char>(code.object.at(18)), 183);
}

// Four channels of a pixel times four vectors: a core that executes in order waits for one load, not for four.
TEST(Stmt, ElementsOfOneLoadForCoresInOrder) {
  const auto x = Argument("x", kF32, 64), w = Argument("w", kF32, 16), out = Output("out", kF32, 64);
  const Var i("i");
  Expr sum = ir::Imm(kF32.WithLanes(4), 0);
  for (int k = 0; k < 4; ++k) {
    const Expr scalar = MakeBroadcast(MakeLoad(x, Expr(i) * 4 + Expr(k)), 4);
    sum = sum + scalar * MakeLoad(w, Vec(Expr(4 * k), 4));
  }
  const ir::Function f{"f", {x, w, out}, Loop(i, 16, MakeStore(out, Vec(Expr(i) * 4, 4), sum))};
  const auto code = [&](const char* cpu) {
    const Target arm{.triple = "aarch64-unknown-linux-gnu", .cpu = cpu};
    return Must(CompileToObject({f}, arm, {.keep_text = true})).assembly;
  };
  for (const char* element : {"s[0]", "s[1]", "s[2]", "s[3]"}) {
    EXPECT_THAT(code("cortex-a53"), HasSubstr(element));
    if (element[2] != '0') EXPECT_THAT(code("cortex-a72"), Not(HasSubstr(element)));
  }
}

// For constants that are packed on one machine and read on another.
TEST(Stmt, SeparateProductsAreRounded) {
  const ir::Function f = Elementwise(kF32, kF32, 16, 4, [](const Expr& a, const Expr& b) { return a * b + a; });
  Target arm{.triple = "aarch64-unknown-linux-gnu", .cpu = "generic"}, fma = Baseline();
  fma.cpu = "x86-64-v3";
  for (const auto& [target, fused, product] : {std::tuple(arm, "fmla", "fmul"), std::tuple(fma, "vfmadd", "vmulps")}) {
    const auto code = [&](bool separate) {
      return Must(CompileToObject({f}, target, {.keep_text = true, .separate_products = separate})).assembly;
    };
    EXPECT_THAT(code(false), testing::AllOf(HasSubstr(fused), Not(HasSubstr(product))));
    EXPECT_THAT(code(true), testing::AllOf(HasSubstr(product), Not(HasSubstr(fused))));
  }
}

// A CPU's name implies features that no target file lists; LLVM would end the process.
TEST(Stmt, Avx512WithoutVlIsRefused) {
  auto out = Output("out", kF32, 16);
  ir::Function f{"f", {out}, MakeStore(out, Vec(Expr(0), 16), ir::Imm(kF32.WithLanes(16), 2))};
  Target named = Baseline(), listed = Baseline(), whole = Baseline();
  named.cpu = "knl";
  listed.features = {"avx512f"};
  whole.features = {"avx512f", "avx512vl"};
  for (const Target& target : {named, listed}) {
    const Status refused = CompileToObject({f}, target, {}).status();
    EXPECT_EQ(refused.kind(), StatusKind::kUnsupported) << target.Text();
    EXPECT_THAT(refused.message(), HasSubstr("without AVX-512VL"));
  }
  Must(CompileToObject({f}, whole, {}));
}

}  // namespace
}  // namespace hone::codegen
