// The C code that every network library carries (runtime/*.c and runtime/host/pool.c), compiled when Hone was built.
#pragma once

#include <string_view>

namespace hone::library {

// An ELF relocatable object for the architecture of this program.
std::string_view RuntimeObject();

}  // namespace hone::library
