// The C code that a network library carries (runtime/*.c; on the CPU runtime/host/pool.c too), compiled when Hone was
// built.
#pragma once

#include <string_view>

#include "target/target.h"

namespace hone::library {

// For libraries of that kind of target: an ELF relocatable object for the architecture of this program. Empty: there
// are no such libraries.
std::string_view RuntimeObject(TargetKind kind);

}  // namespace hone::library
