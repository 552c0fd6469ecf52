# Instrumented builds, each in a build folder of its own. HACKING.md says what they are for.
option(HONE_FUZZ "the address and undefined sanitizers, and what libFuzzer needs (clang): make check-asan, make fuzz" OFF)
option(HONE_TSAN "the thread sanitizer: make check-tsan" OFF)

# -O1: builds in half the time, and reports still name the right lines.
if(HONE_FUZZ)
  # Of the undefined sanitizer's checks vptr wants type information that LLVM's libraries were built without.
  add_compile_options(-O1 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=vptr
                      -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
elseif(HONE_TSAN)
  add_compile_options(-O1 -g1 -fno-omit-frame-pointer -fsanitize=thread)
  add_link_options(-fsanitize=thread)
endif()
