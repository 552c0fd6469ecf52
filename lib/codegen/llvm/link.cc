#include <dlfcn.h>
#include <fmt/format.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/raw_ostream.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/file.h"
#include "base/text.h"
#include "codegen/llvm/codegen.h"

LLD_HAS_DRIVER(elf)

namespace hone::codegen {
namespace {

// lld reads files; an anonymous one in memory has a path too, as long as it is open.
class MemoryFile {
 public:
  MemoryFile() = default;
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  MemoryFile(MemoryFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }

  Status Write(const std::string& name, const std::string& bytes) {
    auto failed = [&] { return Status::Io(fmt::format("{}: cannot hand to the linker: {}", name, strerror(errno))); };
    fd_ = memfd_create("hone-link", MFD_CLOEXEC);
    if (fd_ < 0) return failed();
    for (size_t done = 0; done < bytes.size();) {
      ssize_t n = write(fd_, bytes.data() + done, bytes.size() - done);
      if (n < 0 && errno != EINTR) return failed();
      if (n > 0) done += static_cast<size_t>(n);
    }
    return Status::Ok();
  }
  std::string Path() const { return fmt::format("/proc/self/fd/{}", fd_); }

 private:
  int fd_ = -1;
};

// The C library that this program itself runs with.
std::string LibcPath() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&fopen), &info) == 0 || !info.dli_fname) return "";
  return info.dli_fname;
}

// lld's words without its prefix and with our names for the inputs; one line.
std::string Message(std::string text, const std::vector<std::pair<std::string, std::string>>& names) {
  for (const auto& [path, name] : names) text = ReplaceAll(text, path, name);
  std::string result;
  size_t lines = 0;
  constexpr size_t kMostLines = 8;
  for (std::string line : Split(text, '\n')) {
    size_t prefix = line.find("error: ");
    if (prefix != std::string::npos) line = line.substr(prefix + 7);
    while (!line.empty() && (line[0] == ' ' || line[0] == '>')) line.erase(0, 1);
    if (line.empty() || ++lines > kMostLines) continue;
    result += (result.empty() ? "" : "; ") + line;
  }
  return result.empty() ? "the linker failed without a message" : result;
}

}  // namespace

Status LinkShared(const std::vector<LinkInput>& inputs, const LinkOptions& options, const std::string& output_path) {
  // lld keeps its state in globals.
  static std::mutex mutex;
  static bool broken = false;
  std::lock_guard<std::mutex> lock(mutex);
  if (broken) return Status::Crashed("the linker crashed earlier in this process and cannot be used again");

  std::vector<std::string> args = {
      "ld.lld",     "-shared", "--build-id=none", "-znoexecstack",  "--hash-style=gnu",
      "-Bsymbolic", "-zdefs",  "--threads=1",     "--eh-frame-hdr", "--color-diagnostics=never",
      // lld 19 keeps a pointer to this symbol from link to link, renews it only where the symbol occurs and writes
      // through it: after an object that mentions it, the next link without one would write into freed memory.
      "--undefined=_GLOBAL_OFFSET_TABLE_"};
  if (!options.soname.empty()) args.push_back("-soname=" + options.soname);
  args.insert(args.end(), {"-o", output_path});

  std::vector<MemoryFile> files(inputs.size() + 1);
  std::vector<std::pair<std::string, std::string>> names;
  for (size_t i = 0; i < inputs.size(); ++i) {
    HONE_RETURN_IF_ERROR(files[i].Write(inputs[i].name, inputs[i].bytes));
    args.push_back(files[i].Path());
    names.emplace_back(files[i].Path(), inputs[i].name);
  }
  if (!options.exports.empty()) {
    std::string script = "{ global:";
    for (const std::string& symbol : options.exports) script += " " + symbol + ";";
    script += " local: *; };\n";
    HONE_RETURN_IF_ERROR(files.back().Write("the export list", script));
    args.push_back("--version-script=" + files.back().Path());
    args.push_back("--gc-sections");
    args.push_back("--no-undefined-version");
    names.emplace_back(files.back().Path(), "the export list");
  }
  if (options.need_libc) {
    std::string libc = LibcPath();
    if (libc.empty()) return Status::NotFound("the C library of this process was not found");
    args.push_back("--no-as-needed");
    args.push_back(libc);
    // Newer ones have it for old programs' sake alone; a glibc without it would have all that it holds in libc.
    const std::string libdl = JoinPath(DirName(libc), "libdl.so.2");
    if (options.need_libdl && Exists(libdl)) args.push_back(libdl);
  }
  // Long paths before their prefixes: /proc/self/fd/12 before /proc/self/fd/1.
  std::reverse(names.begin(), names.end());

  std::vector<const char*> argv;
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  std::string out_text;
  std::string error_text;
  llvm::raw_string_ostream out(out_text);
  llvm::raw_string_ostream errors(error_text);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  lld::Result result = lld::lldMain(argv, out, errors, drivers);
  broken = !result.canRunAgain;
  if (result.retCode == 0) return Status::Ok();
  const std::string message = fmt::format("linking {}: {}", output_path, Message(errors.str(), names));
  if (broken) return Status::Crashed(message);
  const auto says = [&](const char* words) { return message.find(words) != std::string::npos; };
  // No room, no descriptors, no memory: the inputs are files of ours.
  const bool refused = says("cannot open") || says("failed to write") || says("Cannot allocate memory");
  return refused ? Status::Io(message) : Status::Invalid(message);
}

}  // namespace hone::codegen
