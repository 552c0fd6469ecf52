// Shared objects to link with in place of another machine's C library: glibc's names and no code.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hone::codegen {

// Writes libc.so.6 and libpthread.so.0 of the triple's machine into `folder`, and returns their paths. They have the
// functions that network libraries use, without versions: a library linked with them runs with every version of glibc
// for AArch64. Before 2.34, threads are in libpthread; later versions keep it for such libraries.
Result<std::vector<std::string>> WriteLibcStubs(const std::string& triple, const std::string& folder);

}  // namespace hone::codegen
