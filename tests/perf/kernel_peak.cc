// How close generated code comes to the FMA peak: the direct 3x3 convolution of doc/internals/measuring.md, as the
// schedule of the conv2d_direct template lowers it, built by hand as ir so that it measures code generation alone.
//
//   kernel_peak [--channels=64] [--size=56] [--rows=R] [--ocv=2] [--ow=14] [--unroll=4] [--order=ow_oc|oc_ow]
//               [--threads=2] [--seconds=1] [--compiles=10] [--print=asm|ir] [--save=OBJECT]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "codegen/llvm/codegen.h"
#include "ir/stmt.h"
#include "runtime/host/loader.h"
#include "runtime/host/peak.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header
using ir::Expr;
using ir::Stmt;
using ir::Var;

struct Options {
  int channels = 64, size = 56, rows = 4, ocv = 2, ow = 14, unroll = 4, threads = 2, compiles = 10;
  double seconds = 1;
  bool ow_outer = true;
  std::string print, save;
};

double Now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Conv {
  ir::Function function;
  int64_t pad_size, weight_size, out_size;
  double flop;
};

// out[oco, oh, ow, 16] = relu(sum over ico, kh, kw, ici of pad[ico, oh + kh, ow + kw, ici] * weight[oco/ocv, ico, kh,
// kw, ici, ocv*16])
Conv BuildConv(const Options& o, int lanes) {
  int64_t C = o.channels, S = o.size, P = S + 2, blocks = C / lanes, ocv = o.ocv, T = o.ow;
  Conv conv;
  conv.pad_size = blocks * P * P * lanes;
  conv.weight_size = C * C * 9;
  conv.out_size = C * S * S;
  conv.flop = 2.0 * static_cast<double>(conv.out_size * C * 9);
  DType f32 = DType::Float(32);
  auto pad = ir::Buffer::Make("pad", f32, conv.pad_size, ir::Scope::kArgument);
  auto weight = ir::Buffer::Make("weight", f32, conv.weight_size, ir::Scope::kArgument);
  auto bias = ir::Buffer::Make("bias", f32, C, ir::Scope::kArgument);
  auto out = ir::Buffer::Make("out", f32, conv.out_size, ir::Scope::kArgument, true);
  auto acc = ir::Buffer::Make("acc", f32, ocv * T * lanes, ir::Scope::kRegister);

  Var oho("oh.o"), ohi("oh.i"), oco("oco.o"), owo("ow.o"), ico("ico"), kh("kh"), kw("kw"), icio("ici.o");
  Expr oh = Expr(oho) * o.rows + ohi;
  auto slot = [&](int64_t v, int64_t t) { return ir::MakeRamp(Expr((v * T + t) * lanes), Expr(1), lanes); };

  std::vector<Stmt> init, body, epilogue;
  for (int64_t v = 0; v < ocv; ++v) {
    for (int64_t t = 0; t < T; ++t) init.push_back(ir::MakeStore(acc, slot(v, t), ir::Imm(f32.WithLanes(lanes), 0)));
  }
  auto step = [&](int64_t u, int64_t v, int64_t t) {
    Expr w_index = (((Expr(oco) * blocks + ico) * 3 + kh) * 3 + kw) * (lanes * ocv * lanes) +
                   Expr(icio) * (o.unroll * ocv * lanes) + Expr(u * ocv * lanes + v * lanes);
    Expr p_index = Expr(ico) * (P * P * lanes) + oh * (P * lanes) + Expr(kh) * (P * lanes) + Expr(owo) * (T * lanes) +
                   Expr(kw) * lanes + Expr(icio) * o.unroll + Expr(t * lanes + u);
    Expr w = ir::MakeLoad(weight, ir::MakeRamp(w_index, Expr(1), lanes));
    Expr p = ir::MakeBroadcast(ir::MakeLoad(pad, p_index), lanes);
    body.push_back(ir::MakeStore(acc, slot(v, t), ir::MakeLoad(acc, slot(v, t)) + p * w));
  };
  for (int64_t u = 0; u < o.unroll; ++u) {
    if (o.ow_outer) {
      for (int64_t t = 0; t < T; ++t)
        for (int64_t v = 0; v < ocv; ++v) step(u, v, t);
    } else {
      for (int64_t v = 0; v < ocv; ++v)
        for (int64_t t = 0; t < T; ++t) step(u, v, t);
    }
  }
  for (int64_t v = 0; v < ocv; ++v) {
    for (int64_t t = 0; t < T; ++t) {
      Expr channel = (Expr(oco) * ocv + v) * lanes;
      Expr index = (Expr(oco) * ocv + v) * (S * S * lanes) + oh * (S * lanes) + Expr(owo) * (T * lanes) + t * lanes;
      Expr value = ir::MakeLoad(acc, slot(v, t)) + ir::MakeLoad(bias, ir::MakeRamp(channel, Expr(1), lanes));
      epilogue.push_back(
          ir::MakeStore(out, ir::MakeRamp(index, Expr(1), lanes), ir::Max(value, ir::Imm(value.type(), 0))));
    }
  }
  auto loop = [](const Var& var, int64_t extent, Stmt s) {
    return ir::MakeFor(var, Expr(0), Expr(extent), ir::ForKind::kSerial, std::move(s));
  };
  Stmt reduce = loop(ico, blocks, loop(kh, 3, loop(kw, 3, loop(icio, lanes / o.unroll, ir::MakeBlock(body)))));
  Stmt tile = ir::MakeAllocate(acc, ir::MakeBlock({ir::MakeBlock(init), reduce, ir::MakeBlock(epilogue)}));
  Stmt nest = loop(oco, C / (ocv * lanes), loop(ohi, o.rows, loop(owo, S / T, tile)));
  nest = ir::MakeFor(oho, Expr(0), Expr(S / o.rows), ir::ForKind::kParallel, nest);
  conv.function = {"conv", {pad, weight, bias, out}, nest};
  return conv;
}

double Reference(const Options& o, int lanes, const float* pad, const float* weight, const float* bias, int64_t c,
                 int64_t y, int64_t x) {
  int64_t P = o.size + 2, blocks = o.channels / lanes, wide = o.ocv * lanes;
  double sum = bias[c];
  for (int64_t i = 0; i < o.channels; ++i)
    for (int64_t ky = 0; ky < 3; ++ky)
      for (int64_t kx = 0; kx < 3; ++kx) {
        int64_t w = ((((c / wide * blocks + i / lanes) * 3 + ky) * 3 + kx) * lanes + i % lanes) * wide + c % wide;
        sum += static_cast<double>(pad[(i / lanes * P * P + (y + ky) * P + x + kx) * lanes + i % lanes]) * weight[w];
      }
  return std::max(0.0, sum);
}

int Report(const Status& status) {
  if (!status.ok()) fmt::print(stderr, "kernel_peak: {}\n", status.message());
  return status.ok() ? 0 : 1;
}

Status Run(const Options& o) {
  HONE_ASSIGN_OR_RETURN(Target target, HostTarget());
  int lanes = target.FloatLanes();
  Conv conv = BuildConv(o, lanes);
  HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create());
  double build = 1e9, compile = 1e9, link = 1e9, load = 1e9;
  codegen::ObjectCode code;
  for (int i = 0; i < o.compiles; ++i) {
    double t0 = Now();
    Conv again = BuildConv(o, lanes);
    double t1 = Now();
    HONE_ASSIGN_OR_RETURN(code, codegen::CompileToObject({again.function}, target, {}));
    double t2 = Now();
    HONE_RETURN_IF_ERROR(codegen::LinkShared({{"conv.o", code.object}}, {}, dir.Join("conv.so")));
    double t3 = Now();
    HONE_ASSIGN_OR_RETURN(auto module, runtime::LoadedModule::Open(dir.Join("conv.so")));
    double t4 = Now();
    build = std::min(build, t1 - t0), compile = std::min(compile, t2 - t1), link = std::min(link, t3 - t2),
    load = std::min(load, t4 - t3);
  }
  if (!o.print.empty()) {
    HONE_ASSIGN_OR_RETURN(auto text, codegen::CompileToObject({conv.function}, target, {.keep_text = true}));
    fmt::print("{}\n", o.print == "asm" ? text.assembly : text.llvm_ir);
    return Status::Ok();
  }
  if (!o.save.empty()) HONE_RETURN_IF_ERROR(WriteFileAtomic(o.save, code.object));
  HONE_ASSIGN_OR_RETURN(auto module, runtime::LoadedModule::Open(dir.Join("conv.so")));
  double peak = runtime::MeasureFmaPeak(o.threads, 0.3);
  HONE_ASSIGN_OR_RETURN(auto pool, runtime::ThreadPool::Create(o.threads, true));
  HONE_ASSIGN_OR_RETURN(auto runner, runtime::KernelRunner::Create(module, code.entries[0], &pool));
  std::vector<runtime::AlignedBuffer> buffers;
  std::vector<void*> pointers;
  uint32_t seed = 1;
  for (const ArtifactArg& arg : code.entries[0].args) {
    HONE_ASSIGN_OR_RETURN(auto buffer, runtime::AlignedBuffer::Create(arg.elements * 4));
    for (int64_t i = 0; i < arg.elements; ++i) {
      seed = seed * 1664525 + 1013904223;
      buffer.as<float>()[i] = static_cast<float>(seed >> 8) / 0x1p24F - 0.5F;
    }
    buffers.push_back(std::move(buffer));
    pointers.push_back(buffers.back().data());
  }
  runner.Run(pointers);
  double worst = 0;
  for (int i = 0; i < 200; ++i) {
    int64_t c = i * 7 % o.channels, y = i * 13 % o.size, x = i * 29 % o.size;
    double expected =
        Reference(o, lanes, buffers[0].as<float>(), buffers[1].as<float>(), buffers[2].as<float>(), c, y, x);
    double got = buffers[3].as<float>()[((c / lanes * o.size + y) * o.size + x) * lanes + c % lanes];
    worst = std::max(worst, std::abs(got - expected) / std::max(1.0, std::abs(expected)));
  }
  double best = 1e9;
  double start = Now();
  while (Now() - start < o.seconds) {
    double t0 = Now();
    runner.Run(pointers);
    best = std::min(best, Now() - t0);
  }
  peak = std::max(peak, runtime::MeasureFmaPeak(o.threads, 0.3));
  fmt::print(
      "3x3 {0}->{0} @{1}, tile {2}x{3}, unroll {4}, rows {5}, {6}: build ir {7:.2f} ms, compile {8:.2f} ms, link "
      "{9:.2f} ms, load {10:.2f} ms; "
      "{11:.1f} us, {12:.1f} of {13:.1f} GFLOPS = {14:.1f} % of peak; max error {15:.1e}\n",
      o.channels, o.size, o.ocv, o.ow, o.unroll, o.rows, o.ow_outer ? "ow_oc" : "oc_ow", build * 1e3, compile * 1e3,
      link * 1e3, load * 1e3, best * 1e6, conv.flop / best * 1e-9, peak * 1e-9, conv.flop / best / peak * 100, worst);
  return worst < 1e-4 ? Status::Ok() : Status::Corrupt("the result is wrong");
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    size_t equals = arg.find('=');
    std::string key = arg.substr(0, equals), value = equals == std::string::npos ? "" : arg.substr(equals + 1);
    int number = std::atoi(value.c_str());
    if (key == "--channels")
      o.channels = number;
    else if (key == "--size")
      o.size = number;
    else if (key == "--rows")
      o.rows = number;
    else if (key == "--ocv")
      o.ocv = number;
    else if (key == "--ow")
      o.ow = number;
    else if (key == "--unroll")
      o.unroll = number;
    else if (key == "--threads")
      o.threads = number;
    else if (key == "--compiles")
      o.compiles = number;
    else if (key == "--seconds")
      o.seconds = std::atof(value.c_str());
    else if (key == "--order")
      o.ow_outer = value != "oc_ow";
    else if (key == "--print")
      o.print = value;
    else if (key == "--save")
      o.save = value;
    else
      return Report(Status::Invalid("unknown flag " + key));
  }
  return Report(Run(o));
}
