#include "library/runtime_object.h"

// The assembler reads the file: no generated source of a hundred thousand numbers.
__asm__(
    ".section .rodata\n"
    ".balign 64\n"
    ".hidden hone_runtime_object_begin\n"
    ".globl hone_runtime_object_begin\n"
    "hone_runtime_object_begin:\n"
    ".incbin \"" HONE_RUNTIME_OBJECT
    "\"\n"
    ".hidden hone_runtime_object_end\n"
    ".globl hone_runtime_object_end\n"
    "hone_runtime_object_end:\n"
    ".previous\n");

extern "C" __attribute__((visibility("hidden"))) const char hone_runtime_object_begin[];
extern "C" __attribute__((visibility("hidden"))) const char hone_runtime_object_end[];

namespace hone::library {

std::string_view RuntimeObject() {
  return {hone_runtime_object_begin, static_cast<size_t>(hone_runtime_object_end - hone_runtime_object_begin)};
}

}  // namespace hone::library
