#include <dlfcn.h>

#include "base/file.h"
#include "base/text.h"
#include "codegen/llvm/codegen.h"
#include "common/expect.h"

namespace hone::codegen {
namespace {

TEST(WithoutLlvm, ACpuIsToldWhatIsMissing) {
  const Target cpu = Must(Target::Parse("cpu"));
  const auto code = CompileToObject({}, cpu, {});
  ASSERT_FALSE(code.ok());
  EXPECT_EQ(code.status().kind(), StatusKind::kUnsupported);
  EXPECT_THAT(code.status().message(), HasSubstr("no LLVM"));
  EXPECT_THAT(code.status().message(), HasSubstr("-DHONE_LLVM=ON")) << "what to do";
}

TEST(WithoutLlvm, LibrariesAreLinkedAllTheSame) {
  std::vector<LinkInput> inputs;
  for (const std::string& path : Split(HONE_ELF_PARTS, ':')) {
    inputs.push_back({BaseName(path), Must(ReadFile(path))});
  }
  const TempDir dir = Must(TempDir::Create());
  const std::string path = dir.Join("libparts.so");
  Must(LinkShared(inputs, {.soname = "libparts.so", .exports = {"elf_sum"}, .need_libc = true}, path));
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(reinterpret_cast<int (*)()>(dlsym(library, "elf_sum"))(), 14);
  dlclose(library);
  EXPECT_FALSE(LinkShared(inputs, {.soname = "", .exports = {}, .need_libc = true}, "/nowhere/at/all.so").ok());
}

}  // namespace
}  // namespace hone::codegen
