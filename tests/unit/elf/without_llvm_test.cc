// The build without LLVM: what it rejects, and libraries linked by `ld`, which are loaded and called.
#include <dlfcn.h>

#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "codegen/elf/rename.h"
#include "codegen/llvm/codegen.h"
#include "common/expect.h"
#include "table.h"

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

std::vector<LinkInput> Parts() {
  std::vector<LinkInput> inputs;
  for (const std::string& path : Split(HONE_ELF_PARTS, ':')) {
    inputs.push_back({BaseName(path), Must(ReadFile(path))});
  }
  return inputs;
}

const LinkOptions kWithLibc{.soname = "libx.so", .exports = {}, .need_libc = true};

class Loaded {
 public:
  Loaded(const std::vector<LinkInput>& inputs, const LinkOptions& options) {
    const std::string path = dir_.Join("libx.so");
    Must(LinkShared(inputs, options, path));
    bytes = Must(ReadFile(path));
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  ~Loaded() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  template <typename F>
  F* Get(const char* name) const {
    void* f = Has(name) ? dlsym(handle_, name) : nullptr;
    EXPECT_NE(f, nullptr) << name;
    return reinterpret_cast<F*>(f);
  }
  bool Has(const char* name) const { return handle_ != nullptr && dlsym(handle_, name) != nullptr; }
  std::string bytes;

 private:
  TempDir dir_ = *TempDir::Create();
  void* handle_ = nullptr;
};

TEST(WithoutLlvm, WhatIsLinkedRuns) {
  const Loaded library(Parts(), kWithLibc);
  EXPECT_EQ(library.Get<int()>("elf_ready")(), 7) << "the constructor";
  EXPECT_EQ(library.Get<int()>("elf_sum")(), 14);
  const auto call = library.Get<int(int, int)>("elf_call");
  EXPECT_EQ(call(0, 2), 210) << "a pointer to a function of the other object";
  EXPECT_EQ(call(1, -3), 3) << "a pointer to a function of libc";
  const auto count = library.Get<int()>("elf_count");
  EXPECT_EQ(count(), 41);
  std::thread([&] { EXPECT_EQ(count(), 41) << "a variable of each thread"; }).join();
  EXPECT_EQ(count(), 42);
  const Loaded both(Parts(), {.soname = "libx.so", .exports = {}, .need_libc = true, .need_libdl = true});
  EXPECT_EQ(both.Get<int()>("elf_sum")(), 14);
}

TEST(WithoutLlvm, TablesOfDataAreLinkedToTheirSymbols) {
  std::vector<LinkInput> inputs = Parts();
  inputs.push_back({"reader.o", Must(ReadFile(HONE_ELF_READER))});
  inputs.push_back({"table.o", TableObject("x86_64-linux", "elf_more")});
  struct Row {
    uint64_t number;
    const char* text;
    int (*function)(int);
  };
  const Loaded library(inputs, kWithLibc);
  const Row* row = library.Get<const Row*()>("elf_row")();
  EXPECT_EQ(row->number, 7u);
  EXPECT_STREQ(row->text, "text");
  EXPECT_EQ(row->function(2), 210);
}

TEST(WithoutLlvm, ShowsTheExportsAloneAndTheSameBytesAgain) {
  const LinkOptions options{.soname = "libx.so", .exports = {"elf_sum"}, .need_libc = true};
  const Loaded library(Parts(), options);
  EXPECT_EQ(library.Get<int()>("elf_sum")(), 14);
  EXPECT_FALSE(library.Has("elf_call"));
  EXPECT_EQ(library.bytes, Loaded(Parts(), options).bytes);
}

TEST(WithoutLlvm, RenamedObjectsLinkAndRun) {
  std::vector<LinkInput> parts = Parts();
  for (LinkInput& part : parts) {
    part.bytes = Must(RenameSymbols(part.name, part.bytes, [](std::string_view name) {
      return name.starts_with("elf_") ? "mine_" + std::string(name.substr(4)) : std::string(name);
    }));
  }
  const Loaded library(parts, kWithLibc);
  EXPECT_EQ(library.Get<int()>("mine_sum")(), 14);
  EXPECT_FALSE(library.Has("elf_sum"));
}

TEST(WithoutLlvm, TheLinkerNamesWhatIsWrong) {
  const std::vector<LinkInput> parts = Parts();
  ASSERT_EQ(parts.size(), 2u);
  const TempDir dir = Must(TempDir::Create());
  const auto link = [&](const std::vector<LinkInput>& inputs, const LinkOptions& options) {
    return LinkShared(inputs, options, dir.Join("libx.so"));
  };
  EXPECT_THAT(link({parts[0]}, kWithLibc).message(), AllOf(HasSubstr(parts[0].name), HasSubstr("elf_more")));
  EXPECT_EQ(link({parts[0]}, kWithLibc).kind(), StatusKind::kInvalid);
  EXPECT_THAT(link(parts, {}).message(), HasSubstr("malloc")) << "libc was not allowed";
  EXPECT_THAT(link({parts[0], parts[1], parts[1]}, kWithLibc).message(), HasSubstr("elf_more"));
  EXPECT_THAT(link(parts, {.soname = "", .exports = {"nothere"}, .need_libc = true}).message(), HasSubstr("nothere"));
  EXPECT_THAT(link({{"text", "this is no object"}}, kWithLibc).message(), HasSubstr("text: "));
  const Status nowhere = LinkShared(parts, kWithLibc, "/nowhere/at/all.so");
  EXPECT_EQ(nowhere.kind(), StatusKind::kIo) << nowhere.message();
}

TEST(WithoutLlvm, WithoutALinkerItSaysWhatToInstall) {
  const std::string path = getenv("PATH");
  setenv("PATH", "/nowhere", 1);
  const Status status = LinkShared(Parts(), kWithLibc, "/nowhere/at/all.so");
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(status.kind(), StatusKind::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("install binutils"));
}

}  // namespace
}  // namespace hone::codegen
