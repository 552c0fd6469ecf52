// The inputs of a shared object, and the arguments that lld and GNU ld need. codegen/llvm runs the linker.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hone::codegen {

struct LinkInput {
  std::string name;   // for messages
  std::string bytes;  // a relocatable object
};

struct LinkOptions {
  std::string soname;                // may be empty
  std::vector<std::string> exports;  // symbols to keep visible; empty: all that are not hidden
  bool need_libc = false;            // record libc.so.6 for undefined symbols; false: none allowed
  bool need_libdl = false;           // also record libdl.so.2, which has dlopen before glibc 2.34
  std::string triple;                // with need_libc: another architecture, whose libc is not here; empty: this one
  std::vector<std::string> libc;     // paths of the C library to link with; empty: this process's. Set by LinkShared
};

// The arguments for both linkers. `exports` is a file with ExportScript(), empty if that is empty. Returns kNotFound if
// this process has no C library to link with.
Result<std::vector<std::string>> LinkArguments(const std::vector<std::string>& inputs, const std::string& exports,
                                               const LinkOptions& options, const std::string& output_path);

// The version script that exports only options.exports; empty if all symbols are exported.
std::string ExportScript(const LinkOptions& options);

// A linker's output as one line, without the linker's own name and with our names for the files: `names` are {path,
// name}.
std::string LinkerMessage(std::string text, const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace hone::codegen
