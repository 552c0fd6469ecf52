#include "codegen/elf/link.h"

#include <dlfcn.h>
#include <stdio.h>

#include "base/file.h"
#include "base/text.h"

namespace hone::codegen {

// The C library that this program itself uses.
static std::string LibcPath() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&fopen), &info) == 0 || !info.dli_fname) return "";
  return info.dli_fname;
}

Result<std::vector<std::string>> LinkArguments(const std::vector<std::string>& inputs, const std::string& exports,
                                               const LinkOptions& options, const std::string& output_path) {
  std::vector<std::string> args = {"-shared",    "--build-id=none", "-znoexecstack", "--hash-style=gnu",
                                   "-Bsymbolic", "-zdefs",          "--eh-frame-hdr"};
  if (!options.soname.empty()) args.push_back("-soname=" + options.soname);
  args.insert(args.end(), {"-o", output_path});
  args.insert(args.end(), inputs.begin(), inputs.end());
  if (!exports.empty()) {
    args.insert(args.end(), {"--version-script=" + exports, "--gc-sections", "--no-undefined-version"});
  }
  if (!options.need_libc) return args;
  args.push_back("--no-as-needed");
  if (!options.libc.empty()) {
    args.insert(args.end(), options.libc.begin(), options.libc.end());
    return args;
  }
  const std::string libc = LibcPath();
  if (libc.empty()) return Status::NotFound("the C library of this process was not found");
  args.push_back(libc);
  // Newer versions keep it only for old programs; a glibc without it has its functions in libc.
  const std::string libdl = JoinPath(DirName(libc), "libdl.so.2");
  if (options.need_libdl && Exists(libdl)) args.push_back(libdl);
  return args;
}

std::string ExportScript(const LinkOptions& options) {
  if (options.exports.empty()) return "";
  std::string script = "{ global:";
  for (const std::string& symbol : options.exports) script += " " + symbol + ";";
  return script + " local: *; };\n";
}

std::string LinkerMessage(std::string text, const std::vector<std::pair<std::string, std::string>>& names) {
  // Backwards: /proc/self/fd/12 before its prefix /proc/self/fd/1.
  for (auto it = names.rbegin(); it != names.rend(); ++it) text = ReplaceAll(text, it->first, it->second);
  std::string result;
  size_t lines = 0;
  constexpr size_t kMostLines = 8;
  for (std::string line : Split(text, '\n')) {
    if (const size_t prefix = line.find("error: "); prefix != std::string::npos) line = line.substr(prefix + 7);
    const size_t colon = line.find(": ");  // GNU ld begins with its own path
    if (colon != std::string::npos && BaseName(line.substr(0, colon)) == "ld") line = line.substr(colon + 2);
    while (!line.empty() && (line[0] == ' ' || line[0] == '>')) line.erase(0, 1);
    if (line.empty() || ++lines > kMostLines) continue;
    result += (result.empty() ? "" : "; ") + line;
  }
  return result.empty() ? "the linker failed without a message" : result;
}

}  // namespace hone::codegen
