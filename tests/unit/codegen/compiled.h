// Compiles, loads and runs a function in a test, and does the same by the interpreter.
#pragma once

#include "base/file.h"
#include "codegen/llvm/codegen.h"
#include "common/bytes.h"
#include "common/expect.h"
#include "interpreter/interpreter.h"
#include "ir/stmt.h"
#include "runtime/host/loader.h"

namespace hone::codegen {

inline Target HostForTest() {
  Target target = *HostTarget();
  target.threads = 3;  // more than one, and not a divisor of most extents
  return target;
}

// Baseline x86-64: no AVX, no FMA, no SSE4.1; runs on every x86-64.
inline Target Baseline() { return Target{.triple = "x86_64-unknown-linux-gnu", .cpu = "x86-64"}; }

inline ir::Buffer Argument(const std::string& name, DType type, int64_t elements) {
  return ir::Buffer::Make(name, type, elements, ir::Scope::kArgument);
}
inline ir::Buffer Output(const std::string& name, DType type, int64_t elements) {
  return ir::Buffer::Make(name, type, elements, ir::Scope::kArgument, true);
}

inline ir::Stmt Loop(const ir::Var& v, const ir::Expr& extent, const ir::Stmt& body) {
  return MakeFor(v, 0, extent, ir::ForKind::kSerial, body);
}

inline ir::Expr At(const ir::Expr& base, int lanes) {
  return lanes == 1 ? base : ir::MakeRamp(base, ir::Expr(1), lanes);
}

// out[i] = value(a[i], b[i]) for i < n, `lanes` at a time.
template <typename F>
ir::Function Elementwise(DType in, DType out_type, int64_t n, int lanes, F value) {
  auto a = Argument("a", in, n), b = Argument("b", in, n), out = Output("out", out_type, n);
  ir::Var i("i");
  ir::Expr index = At(ir::Expr(i) * lanes, lanes);
  ir::Stmt body = MakeStore(out, index, value(MakeLoad(a, index), MakeLoad(b, index)));
  return {"f", {a, b, out}, Loop(i, n / lanes, body)};
}

struct CompiledFunction {
  TempDir dir;
  ObjectCode code;
  runtime::LoadedModule module;
};

inline Result<CompiledFunction> Compile(const ir::Function& f, const Target& target) {
  HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create());
  HONE_ASSIGN_OR_RETURN(ObjectCode code, CompileToObject({f}, target, {}));
  HONE_RETURN_IF_ERROR(LinkShared({{f.name + ".o", code.object}}, {}, dir.Join("f.so")));
  HONE_ASSIGN_OR_RETURN(auto module, runtime::LoadedModule::Open(dir.Join("f.so")));
  return CompiledFunction{std::move(dir), std::move(code), std::move(module)};
}

// Runs on copies of the arguments, each followed by a guard page; returns their contents afterwards.
inline std::vector<Bytes> RunCompiled(const ir::Function& f, const std::vector<Bytes>& args, const Target& target) {
  CompiledFunction compiled = Must(Compile(f, target));
  auto pool = Must(runtime::ThreadPool::Create(target.threads, false));
  auto runner = Must(runtime::KernelRunner::Create(compiled.module, compiled.code.entries[0], &pool));
  std::vector<runtime::AlignedBuffer> buffers;
  std::vector<void*> pointers;
  for (const Bytes& arg : args) {
    buffers.push_back(*runtime::AlignedBuffer::Create(static_cast<int64_t>(arg.size()), true));
    memcpy(buffers.back().data(), arg.data(), arg.size());
    pointers.push_back(buffers.back().data());
  }
  runner.Run(pointers);
  std::vector<Bytes> result;
  for (auto& b : buffers) result.emplace_back(b.data(), b.data() + b.bytes());
  return result;
}

inline std::vector<Bytes> RunInterpreted(const ir::Function& f, std::vector<Bytes> args) {
  std::vector<ir::RunArgument> list;
  for (size_t i = 0; i < args.size(); ++i) list.push_back({args[i].data(), f.params[i]->size});
  Must(ir::Run(f, list));
  return args;
}

// Expects equal bytes from both engines, with the host's vectors and the baseline's.
inline void ExpectAgrees(const ir::Function& f, const std::vector<Bytes>& args) {
  std::vector<Bytes> expected = RunInterpreted(f, args);
  EXPECT_EQ(RunCompiled(f, args, HostForTest()), expected) << "on the host's vectors";
#if defined(__x86_64__)
  EXPECT_EQ(RunCompiled(f, args, Baseline()), expected) << "on x86-64 alone";
#endif
}

}  // namespace hone::codegen
