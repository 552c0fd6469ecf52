// A linker for where there is no LLVM, and so no lld: C objects of x86-64, compiled with -fPIC, and objects of data, as
// one shared object that needs libc or nothing. Makes network libraries for GPUs. In memory, in process.
//
// It supports code, data, zeros and variables of a thread (TLS descriptors), calls and pointers between the objects and
// into libc, functions to run when loaded. It does not support C++ (COMDAT groups, exceptions), common symbols, other
// machines, unused sections (all are kept), versions of libc's symbols (the loader binds to the oldest). Same inputs,
// same bytes.
#pragma once

#include <string>
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

// The bytes of the shared object. kInvalid, with the input's name: not such an object, damaged, a symbol twice or
// nowhere, a relocation that is not known.
Result<std::string> LinkElf(const std::vector<LinkInput>& inputs, const LinkOptions& options);

}  // namespace hone::codegen
