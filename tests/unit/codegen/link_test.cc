#include "compiled.h"

namespace hone::codegen {
namespace {

using ir::Buffer;
using ir::Expr;
using ir::Scope;

ir::Function Constant(const std::string& name, double value) {
  auto out = Output("out", DType::Float(32), 1);
  return {name, {out}, MakeStore(out, Expr(0), ir::Imm(DType::Float(32), value))};
}

float Call(const runtime::LoadedModule& module, const std::string& name) {
  auto kernel = Must(module.Find(name));
  float out = -1;
  void* buffers[] = {&out};
  HoneParallel none{};
  kernel(buffers, &none, nullptr, nullptr);
  return out;
}

std::string Object(const std::vector<ir::Function>& functions) {
  return Must(CompileToObject(functions, HostForTest(), {})).object;
}

struct Linked {
  TempDir dir = *TempDir::Create();
  std::string path = dir.Join("k.so");
};

TEST(Link, SeveralObjectsAndFunctions) {
  Linked to;
  Must(LinkShared({{"ab.o", Object({Constant("a", 1), Constant("b", 2)})}, {"c.o", Object({Constant("c", 3)})}}, {},
                  to.path));
  auto module = Must(runtime::LoadedModule::Open(to.path));
  EXPECT_EQ(Call(module, "a"), 1);
  EXPECT_EQ(Call(module, "b"), 2);
  EXPECT_EQ(Call(module, "c"), 3);
  EXPECT_EQ(module.Find("d").status().kind(), StatusKind::kNotFound);
}

TEST(Link, OnlyExportedSymbolsAreVisible) {
  Linked to;
  const std::string ab = Object({Constant("a", 1), Constant("b", 2)});
  ASSERT_TRUE(LinkShared({{"ab.o", ab}}, {.soname = "libk.so", .exports = {"b"}}, to.path).ok());
  auto module = Must(runtime::LoadedModule::Open(to.path));
  EXPECT_EQ(Call(module, "b"), 2);
  EXPECT_FALSE(module.Find("a").ok());
}

TEST(Link, ErrorsNameTheSymbolAndTheInput) {
  Linked to;
  const std::string a = Object({Constant("a", 1)});
  const Status twice = LinkShared({{"one.o", a}, {"two.o", a}}, {}, to.path);
  EXPECT_THAT(twice.message(), HasSubstr("duplicate symbol: a"));
  EXPECT_THAT(twice.message(), HasSubstr("two.o"));
  EXPECT_THAT(twice.message(), Not(HasSubstr("\n")));
  EXPECT_THAT(LinkShared({{"a.o", a}}, {.exports = {"a", "nothere"}}, to.path).message(), HasSubstr("nothere"));
  EXPECT_THAT(LinkShared({{"garbage.o", "this is no object"}}, {}, to.path).message(), HasSubstr("garbage.o"));
  EXPECT_FALSE(LinkShared({{"a.o", a}}, {}, "/nowhere/at/all.so").ok());
  // And the linker still works.
  EXPECT_TRUE(LinkShared({{"a.o", a}}, {}, to.path).ok());
}

// rounding to f16 without F16C calls the compiler's runtime library, which is not there.
TEST(Link, UndefinedSymbolsAreErrors) {
#if defined(__x86_64__)
  Linked to;
  auto in = Argument("in", DType::Float(32), 1);
  auto out = Output("out", DType::Float(16), 1);
  ir::Function f{"f", {in, out}, MakeStore(out, Expr(0), ir::MakeCast(DType::Float(16), MakeLoad(in, Expr(0))))};
  auto code = Must(CompileToObject({f}, Baseline(), {}));
  Status status = LinkShared({{"half.o", code.object}}, {}, to.path);
  EXPECT_THAT(status.message(), HasSubstr("undefined symbol: __truncsfhf2"));
  EXPECT_THAT(status.message(), HasSubstr("half.o"));
  EXPECT_FALSE(Exists(to.path));
#endif
}

TEST(Link, LibcIsRecordedOnRequest) {
  Linked to;
  const std::string a = Object({Constant("a", 1)});
  ASSERT_TRUE(LinkShared({{"a.o", a}}, {}, to.path).ok());
  EXPECT_EQ(ReadFile(to.path)->find("libc.so"), std::string::npos);
  Must(LinkShared({{"a.o", a}}, {.need_libc = true}, to.path));
  EXPECT_NE(ReadFile(to.path)->find("libc.so"), std::string::npos);
  EXPECT_EQ(ReadFile(to.path)->find("libdl.so"), std::string::npos);
  EXPECT_TRUE(runtime::LoadedModule::Open(to.path).ok());
  Must(LinkShared({{"a.o", a}}, {.need_libc = true, .need_libdl = true}, to.path));
  EXPECT_NE(ReadFile(to.path)->find("libdl.so.2"), std::string::npos);
  EXPECT_TRUE(runtime::LoadedModule::Open(to.path).ok());
}

TEST(Link, SameInputSameBytes) {
  const std::string first = Object({Constant("a", 1), Constant("b", 2)});
  EXPECT_EQ(first, Object({Constant("a", 1), Constant("b", 2)}));
  // The result contains no path of the machine and no name of a temporary file.
  Linked one, two;
  for (const Linked* to : {&one, &two}) Must(LinkShared({{"a.o", first}}, {}, to->path));
  EXPECT_EQ(*ReadFile(one.path), *ReadFile(two.path));
}

}  // namespace
}  // namespace hone::codegen
