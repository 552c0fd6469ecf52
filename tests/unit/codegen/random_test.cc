// Random programs of nested loops, branches, lets and allocations over integers: compiled and interpreted alike.
// Integers, as every one of their results is exact; indices are kept in bounds by a modulo.
#include <random>

#include "compiled.h"

namespace hone::codegen {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::ExprKind;
using ir::ForKind;
using ir::Scope;
using ir::Stmt;
using ir::Var;

constexpr int64_t kSize = 48;

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  ir::Function Make() {
    in_ = Buffer::Make("in", DType::Int(64), kSize, Scope::kArgument);
    out_ = Buffer::Make("out", DType::Int(64), kSize, Scope::kArgument, true);
    readable_ = {in_, out_};
    writable_ = {out_};
    Stmt body = ir::MakeBlock({Statement(4), Statement(4), Statement(3)});
    return {"f", {in_, out_}, body};
  }

 private:
  int Pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  Expr Leaf() {
    if (vars_.empty() || Pick(3) == 0) return Expr(Pick(9) - 4);
    return vars_[Pick(static_cast<int>(vars_.size()))];
  }

  Expr Value(int depth) {
    if (depth == 0) return Leaf();
    switch (Pick(10)) {
      case 0:
        return Value(depth - 1) - Value(depth - 1);
      case 1:
        return Value(depth - 1) * Expr(Pick(5) - 2);
      case 2:
        return Value(depth - 1) / Expr(Pick(2) ? Pick(6) + 1 : -1 - Pick(6));
      case 3:
        return Value(depth - 1) % Expr(Pick(2) ? Pick(6) + 1 : -1 - Pick(6));
      case 4:
        return ir::Min(Value(depth - 1), Value(depth - 1));
      case 5:
        return ir::MakeSelect(Value(depth - 1) < Value(depth - 1), Value(depth - 1), Value(depth - 1));
      case 6:
        return ir::MakeLoad(readable_[Pick(static_cast<int>(readable_.size()))], Index(depth - 1));
      case 7:
        return ir::MakeCall(DType::Int(64), ir::Intrinsic::kIfThenElse,
                            {ir::Eq(Value(depth - 1), Leaf()), Value(depth - 1), Value(depth - 1)});
      case 8: {
        Var x("x");
        Expr value = Value(depth - 1);
        vars_.push_back(x);
        Expr body = Value(depth - 1);
        vars_.pop_back();
        return ir::MakeLet(x, value, body);
      }
      default:
        return Value(depth - 1) + Value(depth - 1);
    }
  }

  Expr Index(int depth) { return Value(depth) % Expr(kSize); }

  Stmt Store() {
    Buffer to = writable_[Pick(static_cast<int>(writable_.size()))];
    if (Pick(3) != 0) return ir::MakeStore(to, Index(2), Value(3));
    int lanes = Pick(4) + 2;
    Expr index = ir::MakeRamp(Value(2) % Expr(kSize - 8), Expr(1), lanes);
    Expr from = ir::MakeRamp(Value(1) % Expr(kSize - 10) + 5, Expr(Pick(3) - 1), lanes);
    Expr value =
        ir::MakeLoad(readable_[Pick(static_cast<int>(readable_.size()))], from) * ir::MakeBroadcast(Value(1), lanes);
    return ir::MakeStore(to, index, value - ir::MakeRamp(Value(1), Value(1), lanes));
  }

  Stmt Statement(int depth) {
    if (depth == 0) return Store();
    switch (Pick(6)) {
      case 0:
        return ir::MakeIf(Value(2) < Value(2), Statement(depth - 1), Pick(2) ? Statement(depth - 1) : Stmt());
      case 1: {
        Var x("x");
        Expr value = Value(2);
        vars_.push_back(x);
        Stmt body = Statement(depth - 1);
        vars_.pop_back();
        return ir::MakeLetStmt(x, value, body);
      }
      case 2: {
        // Filled first: reading what was never written means nothing.
        Scope scopes[] = {Scope::kScratch, Scope::kWorkspace, Scope::kRegister};
        auto local = Buffer::Make("local", DType::Int(64), kSize, scopes[Pick(3)]);
        Var k("k");
        Stmt fill = ir::MakeFor(k, 0, Expr(kSize), ForKind::kSerial, ir::MakeStore(local, Expr(k), Expr(k) * 3 - 7));
        readable_.push_back(local);
        writable_.push_back(local);
        Stmt body = Statement(depth - 1);
        readable_.pop_back();
        writable_.pop_back();
        return ir::MakeAllocate(local, ir::MakeBlock({fill, body}));
      }
      case 3:
        return ir::MakeBlock({Statement(depth - 1), Statement(depth - 1)});
      default: {
        // One of three is entered once, not at all, or a number of times that depends on another loop.
        Var i("i");
        Expr min = Pick(2) ? Expr(Pick(5) - 2) : Value(1) % 5;
        Expr extent = Pick(3) == 0 ? Value(1) % 4 : Expr(Pick(4) == 0 ? 1 : Pick(5));
        vars_.push_back(i);
        Stmt body = Statement(depth - 1);
        vars_.pop_back();
        return ir::MakeFor(i, min, extent, ForKind::kSerial, body);
      }
    }
  }

  std::mt19937 random_;
  Buffer in_, out_;
  std::vector<Buffer> readable_, writable_;
  std::vector<Expr> vars_;
};

TEST(Random, ProgramsAgreeWithTheInterpreter) {
  Bytes in(kSize * 8), out(kSize * 8);
  for (int64_t i = 0; i < kSize; ++i) in[static_cast<size_t>(i * 8)] = static_cast<unsigned char>(i * 7 % 31);
  auto pool = runtime::ThreadPool::Create(1, false);
  ASSERT_TRUE(pool.ok());
  // One object of many functions: linking and loading each would be most of the time.
  std::vector<ir::Function> functions;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    functions.push_back(Generator(seed).Make());
    functions.back().name = "f" + std::to_string(seed);
  }
  TempDir dir = *TempDir::Create();
  auto code = CompileToObject(functions, HostForTest(), {});
  ASSERT_TRUE(code.ok()) << code.status().message();
  Status linked = LinkShared({{"all.o", code->object}}, {}, dir.Join("f.so"));
  ASSERT_TRUE(linked.ok()) << linked.message();
  auto module = runtime::LoadedModule::Open(dir.Join("f.so"));
  ASSERT_TRUE(module.ok());
  int ran = 0;
  for (size_t i = 0; i < functions.size(); ++i) {
    std::vector<Bytes> expected = {in, out};
    Status status = ir::Run(functions[i], {{expected[0].data(), kSize}, {expected[1].data(), kSize}});
    ASSERT_TRUE(status.ok()) << "seed " << i << ": " << status.message();
    auto runner = runtime::KernelRunner::Create(*module, code->entries[i], &*pool);
    ASSERT_TRUE(runner.ok());
    auto a = *runtime::AlignedBuffer::Create(kSize * 8, true);
    auto b = *runtime::AlignedBuffer::Create(kSize * 8, true);
    memcpy(a.data(), in.data(), in.size());
    runner->Run({a.data(), b.data()});
    EXPECT_EQ(Bytes(b.data(), b.data() + kSize * 8), expected[1]) << "seed " << i;
    EXPECT_EQ(Bytes(a.data(), a.data() + kSize * 8), in) << "seed " << i;
    ran += expected[1] != out;
  }
  EXPECT_GT(ran, 30) << "most programs store something";
}

}  // namespace
}  // namespace hone::codegen
