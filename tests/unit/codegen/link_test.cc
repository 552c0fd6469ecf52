#include "compiled.h"

namespace hone::codegen {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::Scope;

ir::Function Constant(const std::string& name, double value) {
  auto out = Buffer::Make("out", DType::Float(32), 1, Scope::kArgument, true);
  return {name, {out}, ir::MakeStore(out, Expr(0), ir::Imm(DType::Float(32), value))};
}

float Call(const runtime::LoadedModule& module, const std::string& name) {
  auto kernel = module.Find(name);
  EXPECT_TRUE(kernel.ok());
  float out = -1;
  void* buffers[] = {&out};
  HoneParallel none{};
  (*kernel)(buffers, &none, nullptr, nullptr);
  return out;
}

struct Linked {
  TempDir dir = *TempDir::Create();
  std::string path = dir.Join("k.so");
};

TEST(Link, SeveralObjectsAndFunctions) {
  Linked to;
  auto ab = CompileToObject({Constant("a", 1), Constant("b", 2)}, HostForTest(), {});
  auto c = CompileToObject({Constant("c", 3)}, HostForTest(), {});
  ASSERT_TRUE(ab.ok() && c.ok());
  ASSERT_TRUE(LinkShared({{"ab.o", ab->object}, {"c.o", c->object}}, {}, to.path).ok());
  auto module = runtime::LoadedModule::Open(to.path);
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(Call(*module, "a"), 1);
  EXPECT_EQ(Call(*module, "b"), 2);
  EXPECT_EQ(Call(*module, "c"), 3);
  EXPECT_EQ(module->Find("d").status().kind(), StatusKind::kNotFound);
}

TEST(Link, OnlyExportedSymbolsAreVisible) {
  Linked to;
  auto ab = CompileToObject({Constant("a", 1), Constant("b", 2)}, HostForTest(), {});
  ASSERT_TRUE(ab.ok());
  ASSERT_TRUE(LinkShared({{"ab.o", ab->object}}, {.soname = "libk.so", .exports = {"b"}}, to.path).ok());
  auto module = runtime::LoadedModule::Open(to.path);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(Call(*module, "b"), 2);
  EXPECT_FALSE(module->Find("a").ok());
}

TEST(Link, ErrorsNameTheSymbolAndTheInput) {
  Linked to;
  auto a = CompileToObject({Constant("a", 1)}, HostForTest(), {});
  ASSERT_TRUE(a.ok());
  Status twice = LinkShared({{"one.o", a->object}, {"two.o", a->object}}, {}, to.path);
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.message().find("duplicate symbol: a"), std::string::npos) << twice.message();
  EXPECT_NE(twice.message().find("two.o"), std::string::npos) << twice.message();
  EXPECT_EQ(twice.message().find('\n'), std::string::npos);
  Status missing = LinkShared({{"a.o", a->object}}, {.exports = {"a", "nothere"}}, to.path);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.message().find("nothere"), std::string::npos) << missing.message();
  Status garbage = LinkShared({{"garbage.o", "this is no object"}}, {}, to.path);
  ASSERT_FALSE(garbage.ok());
  EXPECT_NE(garbage.message().find("garbage.o"), std::string::npos) << garbage.message();
  EXPECT_FALSE(LinkShared({{"a.o", a->object}}, {}, "/nowhere/at/all.so").ok());
  // And the linker still works.
  EXPECT_TRUE(LinkShared({{"a.o", a->object}}, {}, to.path).ok());
}

// rounding to f16 without F16C calls the compiler's runtime library, which is not there.
TEST(Link, UndefinedSymbolsAreErrors) {
#if defined(__x86_64__)
  Linked to;
  auto in = Buffer::Make("in", DType::Float(32), 1, Scope::kArgument);
  auto out = Buffer::Make("out", DType::Float(16), 1, Scope::kArgument, true);
  ir::Function f{
      "f", {in, out}, ir::MakeStore(out, Expr(0), ir::MakeCast(DType::Float(16), ir::MakeLoad(in, Expr(0))))};
  auto code = CompileToObject({f}, Baseline(), {});
  ASSERT_TRUE(code.ok());
  Status status = LinkShared({{"half.o", code->object}}, {}, to.path);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("undefined symbol: __truncsfhf2"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("half.o"), std::string::npos) << status.message();
  EXPECT_FALSE(Exists(to.path));
#endif
}

TEST(Link, LibcIsRecordedOnRequest) {
  Linked to;
  auto a = CompileToObject({Constant("a", 1)}, HostForTest(), {});
  ASSERT_TRUE(a.ok());
  ASSERT_TRUE(LinkShared({{"a.o", a->object}}, {}, to.path).ok());
  EXPECT_EQ(ReadFile(to.path)->find("libc.so"), std::string::npos);
  Status status = LinkShared({{"a.o", a->object}}, {.need_libc = true}, to.path);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_NE(ReadFile(to.path)->find("libc.so"), std::string::npos);
  EXPECT_EQ(ReadFile(to.path)->find("libdl.so"), std::string::npos);
  EXPECT_TRUE(runtime::LoadedModule::Open(to.path).ok());
  status = LinkShared({{"a.o", a->object}}, {.need_libc = true, .need_libdl = true}, to.path);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_NE(ReadFile(to.path)->find("libdl.so.2"), std::string::npos);
  EXPECT_TRUE(runtime::LoadedModule::Open(to.path).ok());
}

TEST(Link, SameInputSameBytes) {
  auto first = CompileToObject({Constant("a", 1), Constant("b", 2)}, HostForTest(), {});
  auto second = CompileToObject({Constant("a", 1), Constant("b", 2)}, HostForTest(), {});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->object, second->object);
  // No path of the machine in it, and no name of a temporary file in the result.
  Linked one, two;
  ASSERT_TRUE(LinkShared({{"a.o", first->object}}, {}, one.path).ok());
  ASSERT_TRUE(LinkShared({{"a.o", second->object}}, {}, two.path).ok());
  EXPECT_EQ(*ReadFile(one.path), *ReadFile(two.path));
}

}  // namespace
}  // namespace hone::codegen
