#include "fuzz_target.h"

#include <cstdio>

#include "base/check.h"
#include "base/file.h"

namespace hone::fuzz {
namespace {

// Private to this process, as libFuzzer's workers run side by side.
const TempDir& Folder() {
  static const TempDir folder = [] {
    if (getenv("TMPDIR") == nullptr && IsDirectory("/dev/shm")) setenv("TMPDIR", "/dev/shm", 0);
    auto made = TempDir::Create("hone-fuzz");
    HONE_CHECK(made.ok());
    return std::move(*made);
  }();
  return folder;
}

}  // namespace

std::vector<FuzzTarget>& FuzzTargets() {
  static std::vector<FuzzTarget> targets;
  return targets;
}

bool AddFuzzTarget(const char* name, Status (*read)(std::string_view)) {
  FuzzTargets().push_back({name, read});
  return true;
}

const std::string& InputFile(std::string_view input) {
  static const std::string path = Folder().Join("input");
  for (const char* beside : {"-journal", "-wal", "-shm"}) HONE_CHECK(Remove(path + beside).ok());
  // Not atomic and not synced: hundreds of thousands a minute.
  std::FILE* file = std::fopen(path.c_str(), "wb");
  HONE_CHECK(file != nullptr);
  HONE_CHECK(input.empty() || std::fwrite(input.data(), 1, input.size(), file) == input.size());
  HONE_CHECK(std::fclose(file) == 0);
  return path;
}

const std::string& InputFolder() {
  static const std::string path = [] {
    std::string made = Folder().Join("folder");
    HONE_CHECK(MakeDirs(made).ok());
    return made;
  }();
  return path;
}

void CheckSame(const std::string& text, const std::string& again) {
  if (text == again) return;
  std::fprintf(stderr, "written once:\n%s\nread and written again:\n%s\n", text.c_str(), again.c_str());
  HONE_CHECK(text == again);
}

}  // namespace hone::fuzz
