// The linker's libraries are loaded and called: the loader and the C compiler say what is right.
#include "codegen/elf/linker.h"

#include <dlfcn.h>
#include <elf.h>

#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/file.h"
#include "base/text.h"
#include "codegen/elf/data_object.h"
#include "codegen/elf/rename.h"
#include "common/expect.h"

namespace hone::codegen {
namespace {

std::vector<LinkInput> Parts() {
  std::vector<LinkInput> inputs;
  for (const std::string& path : Split(HONE_ELF_PARTS, ':')) {
    inputs.push_back({BaseName(path), Must(ReadFile(path))});
  }
  return inputs;
}

const LinkOptions kWithLibc{.soname = "libx.so", .exports = {}, .need_libc = true};

template <typename T>
T At(const std::string& bytes, uint64_t offset) {
  T value{};
  EXPECT_LE(offset + sizeof value, bytes.size());
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// The libraries that it names, as the loader reads them; its addresses are offsets in the file.
std::vector<std::string> Needed(const std::string& bytes) {
  const auto header = At<Elf64_Ehdr>(bytes, 0);
  std::vector<uint64_t> names;
  uint64_t strings = 0;
  for (uint64_t i = 0; i < header.e_phnum; ++i) {
    const auto segment = At<Elf64_Phdr>(bytes, header.e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type != PT_DYNAMIC) continue;
    for (uint64_t at = segment.p_offset; at < segment.p_offset + segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      const auto entry = At<Elf64_Dyn>(bytes, at);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_NEEDED) names.push_back(entry.d_un.d_val);
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
    }
  }
  std::vector<std::string> needed;
  for (const uint64_t name : names) needed.emplace_back(bytes.c_str() + strings + name);
  return needed;
}

class Loaded {
 public:
  explicit Loaded(const std::string& bytes) {
    Must(WriteFileAtomic(dir_.Join("libx.so"), bytes));
    handle_ = dlopen(dir_.Join("libx.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(handle_, nullptr) << dlerror();
  }
  ~Loaded() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  template <typename F>
  F* Get(const char* name) const {
    void* f = handle_ == nullptr ? nullptr : dlsym(handle_, name);
    EXPECT_NE(f, nullptr) << name;
    return reinterpret_cast<F*>(f);
  }
  bool Has(const char* name) const { return dlsym(handle_, name) != nullptr; }

 private:
  TempDir dir_ = *TempDir::Create();
  void* handle_ = nullptr;
};

TEST(ElfLinker, WhatItLinksRuns) {
  const Loaded library(Must(LinkElf(Parts(), kWithLibc)));
  EXPECT_EQ(library.Get<int()>("elf_ready")(), 7) << "the constructor";
  EXPECT_EQ(library.Get<int()>("elf_sum")(), 14);
  const auto call = library.Get<int(int, int)>("elf_call");
  EXPECT_EQ(call(0, 2), 210) << "a pointer to a function of the other object";
  EXPECT_EQ(call(1, -3), 3) << "a pointer to a function of libc";
  EXPECT_STREQ(library.Get<const char*(int)>("elf_name")(2), "two");
  EXPECT_EQ(library.Get<int()>("elf_share")(), 11);
  EXPECT_EQ(call(0, 0), 11) << "both objects see one variable";
  char* copy = library.Get<char*(const char*)>("elf_copy")("libc's malloc");
  EXPECT_STREQ(copy, "libc's malloc");
  free(copy);
}

TEST(ElfLinker, EveryThreadHasItsVariables) {
  const Loaded library(Must(LinkElf(Parts(), kWithLibc)));
  const auto count = library.Get<int()>("elf_count");
  const auto text = library.Get<const char*(const char*)>("elf_text");
  EXPECT_EQ(count(), 41);
  EXPECT_EQ(count(), 42);
  const char* ours = text("here");
  std::thread([&] {
    EXPECT_EQ(count(), 41);
    EXPECT_STREQ(text("there"), "there");
  }).join();
  EXPECT_EQ(count(), 43);
  EXPECT_STREQ(ours, "here");
}

TEST(ElfLinker, ShowsWhatItIsToldTo) {
  const std::string bytes = Must(LinkElf(Parts(), {.soname = "libx.so", .exports = {"elf_sum"}, .need_libc = true}));
  const Loaded library(bytes);
  EXPECT_EQ(library.Get<int()>("elf_sum")(), 14);
  EXPECT_FALSE(library.Has("elf_call"));
  EXPECT_EQ(bytes, Must(LinkElf(Parts(), {.soname = "libx.so", .exports = {"elf_sum"}, .need_libc = true})));
}

TEST(ElfLinker, RecordsTheLibrariesThatItIsToldOf) {
  EXPECT_EQ(Needed(Must(LinkElf(Parts(), kWithLibc))), std::vector<std::string>({"libc.so.6"}));
  LinkOptions both = kWithLibc;
  both.need_libdl = true;
  const std::string bytes = Must(LinkElf(Parts(), both));
  EXPECT_EQ(Needed(bytes), std::vector<std::string>({"libdl.so.2", "libc.so.6"}));
  EXPECT_EQ(Loaded(bytes).Get<int()>("elf_sum")(), 14) << "and it loads";
}

TEST(ElfLinker, NamesWhatIsWrong) {
  std::vector<LinkInput> parts = Parts();
  ASSERT_EQ(parts.size(), 2u);
  const auto message = [](const std::vector<LinkInput>& inputs, const LinkOptions& options) {
    return LinkElf(inputs, options).status().message();
  };
  EXPECT_THAT(message({parts[0]}, kWithLibc), HasSubstr("undefined symbol `elf_more"));
  EXPECT_THAT(message(parts, {}), HasSubstr("undefined symbol `")) << "libc was not allowed";
  EXPECT_THAT(message({parts[0], parts[1], parts[1]}, kWithLibc), HasSubstr("is defined in"));
  EXPECT_THAT(message(parts, {.soname = "", .exports = {"nothere"}, .need_libc = true}),
              HasSubstr("`nothere` is to be exported"));
  EXPECT_EQ(message({{"text", "this is no object"}}, kWithLibc), "text: is not an object file");
  DataObjectWriter data;
  data.Add(uint64_t{1});
  EXPECT_EQ(message({{"arm", *data.Finish("t", 0, "aarch64-linux")}}, kWithLibc),
            "arm: is of another machine than x86-64");
}

TEST(ElfLinker, RenamedObjectsLinkAndRun) {
  std::vector<LinkInput> parts = Parts();
  for (LinkInput& part : parts) {
    part.bytes = Must(RenameSymbols(part.name, part.bytes, [](std::string_view name) {
      return name.starts_with("elf_") ? "mine_" + std::string(name.substr(4)) : std::string(name);
    }));
  }
  const Loaded library(Must(LinkElf(parts, {.soname = "", .exports = {}, .need_libc = true})));
  EXPECT_EQ(library.Get<int()>("mine_sum")(), 14);
  EXPECT_FALSE(library.Has("elf_sum"));
}

// Each byte of the headers, and each length: refused or linked, never read beyond the end (under a sanitizer: proven).
TEST(ElfLinker, DamagedObjectsDoNoHarm) {
  const std::vector<LinkInput> parts = Parts();
  ASSERT_EQ(parts.size(), 2u);
  for (size_t size = 0; size < parts[0].bytes.size(); size += 37) {
    (void)LinkElf({{"cut", parts[0].bytes.substr(0, size)}, parts[1]}, kWithLibc);  // either verdict will do
  }
  std::string bytes = parts[0].bytes;
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const char was = bytes[at];
    for (const char to : {'\x7f', '\xff'}) {
      bytes[at] = to;
      (void)LinkElf({{"damaged", bytes}, parts[1]}, kWithLibc);
    }
    bytes[at] = was;
  }
}

}  // namespace
}  // namespace hone::codegen
