#include "device_case.h"

#include "../codegen/random_program.h"

namespace hone::device_test {

using ir::Expr;
using ir::ForKind;
using ir::Intrinsic;
using ir::Scope;
using ir::Stmt;
using ir::Var;

ir::Function Stencil() {
  constexpr int64_t kSize = 257;
  auto in = Argument("in", kSize + 1), out = Argument("out", kSize, true);
  Var b("block"), t("thread");
  const Expr i = Expr(b) * 96 + t;
  const Expr value = MakeLoad(in, i) * ir::Imm(DType::Float(32), 1.5) + MakeLoad(in, i + 1);
  return {"stencil", {in, out}, Blocks(b, 3, Threads(t, 96, MakeIf(i < Expr(kSize), MakeStore(out, i, value))))};
}

ir::Function TwoKernels() {
  constexpr int64_t kSize = 64;
  auto in = Argument("in", kSize), out = Argument("out", kSize, true);
  auto squares = ir::Buffer::Make("squares", DType::Float(32), kSize, Scope::kWorkspace);
  Var b("bx"), t("tx"), c("bx"), u("tx");
  const Expr i = Expr(b) * 16 + t, j = Expr(c) * 32 + u;
  const Stmt first = Blocks(b, 4, Threads(t, 16, MakeStore(squares, i, MakeLoad(in, i) * MakeLoad(in, i))));
  const Expr behind = MakeLoad(squares, Expr(kSize - 1) - j);
  const Expr before = MakeLoad(squares, ir::Max(Expr(kSize - 2) - j, Expr(0)));
  const Stmt second = Blocks(c, 2, Threads(u, 32, MakeStore(out, j, behind + before)));
  return {"two", {in, out}, MakeAllocate(squares, ir::MakeBlock({first, second}))};
}

ir::Function TiledProduct(int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kTile = 16;
  const DType f32 = DType::Float(32);
  auto a = Argument("A", m * k), b = Argument("B", k * n), out = Argument("C", m * n, true);
  auto a_shared = ir::Buffer::Make("A_shared", f32, kTile * kTile, Scope::kShared);
  auto b_shared = ir::Buffer::Make("B_shared", f32, kTile * kTile, Scope::kShared);
  auto sums = ir::Buffer::Make("sums", f32, 8, Scope::kRegister);
  Var by("blockIdx.y"), bx("blockIdx.x"), ty("threadIdx.y"), tx("threadIdx.x");
  Var step("step"), i("i"), j("j"), r("r"), i2("i"), j2("j"), i3("i"), j3("j");
  // 8 x 4 threads; each loads 2 vectors of 4 of both tiles, and has 2 rows of 4 columns.
  const Expr thread = Expr(ty) * 4 + tx;
  std::vector<Stmt> fetch;
  for (int64_t part = 0; part < 2; ++part) {
    const Expr element = part == 0 ? thread * 4 : (thread + Expr(part * 32)) * 4;
    const Expr row = element / Expr(kTile), column = element % Expr(kTile);
    const auto vector = [](const Expr& at) { return ir::MakeRamp(at, 1, 4); };
    const Expr from_a = (Expr(by) * kTile + row) * Expr(k) + Expr(step) * kTile + column;
    const Expr from_b = (Expr(step) * kTile + row) * Expr(n) + Expr(bx) * kTile + column;
    fetch.push_back(MakeStore(a_shared, vector(element), MakeLoad(a, vector(from_a))));
    fetch.push_back(MakeStore(b_shared, vector(element), MakeLoad(b, vector(from_b))));
  }
  const auto over = [](const Var& v, int64_t extent, Stmt body) {
    return ir::MakeFor(v, 0, Expr(extent), ForKind::kSerial, std::move(body));
  };
  const Expr product =
      MakeLoad(a_shared, (Expr(ty) * 2 + i2) * kTile + r) * MakeLoad(b_shared, Expr(r) * kTile + Expr(tx) * 4 + j2);
  const Expr sum = Expr(i2) * 4 + j2;
  const Stmt accumulate = over(r, kTile, over(i2, 2, over(j2, 4, MakeStore(sums, sum, MakeLoad(sums, sum) + product))));
  fetch.insert(fetch.begin(), ir::MakeBarrier());
  fetch.push_back(ir::MakeBarrier());
  fetch.push_back(accumulate);
  const Expr at = (Expr(by) * kTile + Expr(ty) * 2 + i3) * Expr(n) + Expr(bx) * kTile + Expr(tx) * 4;
  const Stmt body = ir::MakeBlock(
      {over(i, 2, over(j, 4, MakeStore(sums, Expr(i) * 4 + j, ir::Imm(f32, 0)))),
       over(step, k / kTile, ir::MakeBlock(fetch)),
       over(i3, 2, MakeStore(out, ir::MakeRamp(at, 1, 4), MakeLoad(sums, ir::MakeRamp(Expr(i3) * 4, 1, 4))))});
  Stmt nest = ir::MakeFor(ty, 0, 8, ForKind::kThreadY, Threads(tx, 4, MakeAllocate(sums, body)));
  nest = MakeAllocate(a_shared, MakeAllocate(b_shared, nest));
  return {"product", {a, b, out}, ir::MakeFor(by, 0, Expr(m / kTile), ForKind::kBlockY, Blocks(bx, n / kTile, nest))};
}

ir::Function WithTf32(bool rounds) {
  const DType f32 = DType::Float(32);
  auto in = Argument("in", 32), out = Argument("out", 128, true);
  auto sums = ir::Buffer::Make("sums", f32, 4, Scope::kRegister), a = ir::Buffer::Make("a", f32, 4, Scope::kRegister);
  auto b = ir::Buffer::Make("b", f32, 2, Scope::kRegister);
  Var block("bx"), ty("ty"), tx("tx");
  const Expr thread = Expr(ty) * 4 + tx, four = ir::MakeRamp(0, 1, 4), two = ir::MakeRamp(0, 1, 2);
  Stmt body = MakeStore(out, thread, ir::MakeCall(f32, Intrinsic::kTf32, {MakeLoad(in, thread)}));
  if (!rounds) {
    std::vector<Stmt> stmts;
    for (int64_t i = 0; i < 4; ++i) {
      stmts.push_back(MakeStore(sums, Expr(i), ir::Imm(f32, 0)));
      stmts.push_back(MakeStore(a, Expr(i), ir::Imm(f32, 1)));
      if (i < 2) stmts.push_back(MakeStore(b, Expr(i), ir::Imm(f32, 1)));
    }
    stmts.push_back(MakeStore(sums, four,
                              ir::MakeCall(f32.WithLanes(4), Intrinsic::kMmaTf32,
                                           {MakeLoad(a, four), MakeLoad(b, two), MakeLoad(sums, four)})));
    for (int64_t i = 0; i < 4; ++i) stmts.push_back(MakeStore(out, thread * 4 + i, MakeLoad(sums, Expr(i))));
    body = MakeAllocate(sums, MakeAllocate(a, MakeAllocate(b, ir::MakeBlock(stmts))));
  }
  const Stmt threads = ir::MakeFor(ty, 0, 8, ForKind::kThreadY, Threads(tx, 4, body));
  return {"warp", {in, out}, Blocks(block, 1, threads)};
}

ir::Function MathFunctions(int64_t size) {
  constexpr Intrinsic kUnary[] = {Intrinsic::kExp,   Intrinsic::kLog,  Intrinsic::kSqrt,
                                  Intrinsic::kTanh,  Intrinsic::kErf,  Intrinsic::kAbs,
                                  Intrinsic::kFloor, Intrinsic::kCeil, Intrinsic::kRound};
  const DType f32 = DType::Float(32);
  auto in = Argument("in", size);
  std::vector<ir::Buffer> params{in};
  std::vector<Stmt> kernels;
  const auto add = [&](const std::string& name, const std::function<Expr(Expr)>& make) {
    Var b("bx"), t("tx");
    auto out = Argument(name, size, true);
    params.push_back(out);
    kernels.push_back(Blocks(b, size, Threads(t, 1, MakeStore(out, b, make(MakeLoad(in, b))))));
  };
  for (const Intrinsic fn : kUnary) add("unary", [&](const Expr& x) { return ir::MakeCall(f32, fn, {x}); });
  add("pow", [&](const Expr& x) { return ir::MakeCall(f32, Intrinsic::kPow, {x, ir::Imm(f32, 1.75)}); });
  add("fma", [&](const Expr& x) { return ir::MakeCall(f32, Intrinsic::kFma, {x, x, ir::Imm(f32, -0.5)}); });
  add("relu", [&](const Expr& x) { return ir::Max(x, ir::Imm(f32, 0)); });
  add("lower", [&](const Expr& x) { return ir::Min(x, x * x); });
  add("guarded", [&](const Expr& x) {
    return ir::MakeIfThenElse(x < ir::Imm(f32, 1), ir::Imm(f32, -INFINITY), x / ir::Imm(f32, 3));
  });
  return {"math", params, ir::MakeBlock(kernels)};
}

ir::Function RandomFunction(uint32_t seed) {
  ir::Function f = codegen::RandomProgram(seed, {Scope::kScratch, Scope::kRegister}).Make();
  f.name = "f" + std::to_string(seed);
  f.body = Blocks(Var("bx"), 1, Threads(Var("tx"), 1, f.body));
  return f;
}

std::vector<Bytes> RunOn(runtime::Device* device, const Artifact& artifact, const std::string& symbol,
                         const std::vector<Bytes>& args) {
  auto module = Must(device->Load(artifact));
  std::vector<std::unique_ptr<runtime::DeviceBuffer>> buffers;
  runtime::DeviceArguments arguments;
  for (const Bytes& arg : args) {
    auto buffer = Must(device->Allocate(static_cast<int64_t>(arg.size())));
    Must(device->CopyIn(buffer.get(), arg.data(), static_cast<int64_t>(arg.size())));
    arguments.push_back(buffer.get());
    buffers.push_back(std::move(buffer));
  }
  Must(module->Run(symbol, arguments));
  std::vector<Bytes> result = args;
  for (size_t i = 0; i < args.size(); ++i) Must(device->CopyOut(result[i].data(), *buffers[i], buffers[i]->bytes()));
  return result;
}

std::vector<Bytes> Interpret(const ir::Function& f, std::vector<Bytes> args) {
  std::vector<ir::RunArgument> list;
  for (size_t i = 0; i < args.size(); ++i) list.push_back({args[i].data(), f.params[i]->size});
  Must(ir::Run(f, list));
  return args;
}

}  // namespace hone::device_test
