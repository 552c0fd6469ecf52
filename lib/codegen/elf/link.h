// What is linked into a shared object, and how lld and GNU ld are told to. codegen/llvm runs the linker.
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
  bool need_libc = false;            // record libc.so.6; undefined symbols are libc's. false: none allowed
  bool need_libdl = false;           // record libdl.so.2, too: before glibc 2.34 dlopen and its like are there
};

// The arguments that both linkers take. `exports` is a file with ExportScript(), empty if that is empty. kNotFound:
// this process has no C library to link with.
Result<std::vector<std::string>> LinkArguments(const std::vector<std::string>& inputs, const std::string& exports,
                                               const LinkOptions& options, const std::string& output_path);

// The version script that shows options.exports alone; empty if all symbols are shown.
std::string ExportScript(const LinkOptions& options);

// What a linker printed, as one line without its own name, and with our names for the files: `names` are {path, name}.
std::string LinkerMessage(std::string text, const std::vector<std::pair<std::string, std::string>>& names);

}  // namespace hone::codegen
