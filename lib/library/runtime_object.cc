#include "library/runtime_object.h"

// The assembler reads the files: no generated source of a hundred thousand numbers.
#define HONE_EMBED(name, file)     \
  __asm__(                         \
      ".section .rodata\n"         \
      ".balign 64\n"               \
      ".hidden hone_runtime_" name \
      "_begin\n"                   \
      ".globl hone_runtime_" name  \
      "_begin\n"                   \
      "hone_runtime_" name         \
      "_begin:\n"                  \
      ".incbin \"" file            \
      "\"\n"                       \
      ".hidden hone_runtime_" name \
      "_end\n"                     \
      ".globl hone_runtime_" name  \
      "_end\n"                     \
      "hone_runtime_" name         \
      "_end:\n"                    \
      ".previous\n")

HONE_EMBED("cpu", HONE_RUNTIME_CPU);
HONE_EMBED("cuda", HONE_RUNTIME_CUDA);
HONE_EMBED("opencl", HONE_RUNTIME_OPENCL);

#define HONE_EMBEDDED(name)                                                                  \
  extern "C" __attribute__((visibility("hidden"))) const char hone_runtime_##name##_begin[]; \
  extern "C" __attribute__((visibility("hidden"))) const char hone_runtime_##name##_end[];   \
  static std::string_view Embedded_##name() {                                                \
    return {hone_runtime_##name##_begin,                                                     \
            static_cast<size_t>(hone_runtime_##name##_end - hone_runtime_##name##_begin)};   \
  }

HONE_EMBEDDED(cpu)
HONE_EMBEDDED(cuda)
HONE_EMBEDDED(opencl)

namespace hone::library {

std::string_view RuntimeObject(TargetKind kind) {
  switch (kind) {
    case TargetKind::kCpu:
      return Embedded_cpu();
    case TargetKind::kCuda:
      return Embedded_cuda();
    case TargetKind::kOpenCl:
      return Embedded_opencl();
    default:
      return "";
  }
}

}  // namespace hone::library
