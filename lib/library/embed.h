// HONE_EMBED(name, file): includes a file of the build as bytes of this program, `Embedded_name()`. The assembler reads
// it, which avoids a generated source of a hundred thousand numbers. Use it in .cc files, outside of namespaces.
#pragma once

#define HONE_EMBED(name, file)                                                               \
  __asm__(                                                                                   \
      ".section .rodata\n"                                                                   \
      ".balign 64\n"                                                                         \
      ".hidden hone_runtime_" #name "_begin\n"                                               \
      ".globl hone_runtime_" #name "_begin\n"                                                \
      "hone_runtime_" #name "_begin:\n"                                                      \
      ".incbin \"" file "\"\n"                                                               \
      ".hidden hone_runtime_" #name "_end\n"                                                 \
      ".globl hone_runtime_" #name "_end\n"                                                  \
      "hone_runtime_" #name "_end:\n"                                                        \
      ".previous\n");                                                                        \
  extern "C" __attribute__((visibility("hidden"))) const char hone_runtime_##name##_begin[]; \
  extern "C" __attribute__((visibility("hidden"))) const char hone_runtime_##name##_end[];   \
  static std::string_view Embedded_##name() {                                                \
    return {hone_runtime_##name##_begin,                                                     \
            static_cast<size_t>(hone_runtime_##name##_end - hone_runtime_##name##_begin)};   \
  }
