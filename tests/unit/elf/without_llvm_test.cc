#include <dlfcn.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/text.h"
#include "codegen/llvm/codegen.h"

namespace hone::codegen {
namespace {

TEST(WithoutLlvm, ACpuIsToldWhatIsMissing) {
  const Result<Target> cpu = Target::Parse("cpu");
  ASSERT_TRUE(cpu.ok()) << cpu.status().message();
  const auto code = CompileToObject({}, *cpu, {});
  ASSERT_FALSE(code.ok());
  EXPECT_EQ(code.status().kind(), StatusKind::kUnsupported);
  EXPECT_NE(code.status().message().find("no LLVM"), std::string::npos);
  EXPECT_NE(code.status().message().find("-DHONE_LLVM=ON"), std::string::npos) << "what to do";
}

TEST(WithoutLlvm, LibrariesAreLinkedAllTheSame) {
  std::vector<LinkInput> inputs;
  for (const std::string& path : Split(HONE_ELF_PARTS, ':')) {
    const Result<std::string> bytes = ReadFile(path);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    inputs.push_back({BaseName(path), *bytes});
  }
  const Result<TempDir> dir = TempDir::Create();
  ASSERT_TRUE(dir.ok()) << dir.status().message();
  const std::string path = dir->Join("libparts.so");
  const Status linked = LinkShared(inputs, {.soname = "libparts.so", .exports = {"elf_sum"}, .need_libc = true}, path);
  ASSERT_TRUE(linked.ok()) << linked.message();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(reinterpret_cast<int (*)()>(dlsym(library, "elf_sum"))(), 14);
  dlclose(library);
  EXPECT_FALSE(LinkShared(inputs, {.soname = "", .exports = {}, .need_libc = true}, "/nowhere/at/all.so").ok());
}

}  // namespace
}  // namespace hone::codegen
