# Builds with sanitizers, each in its own build folder. HACKING.md explains them.
option(HONE_FUZZ "the address and undefined sanitizers, and what libFuzzer needs (clang): make check-asan, make fuzz" OFF)
option(HONE_TSAN "the thread sanitizer: make check-tsan" OFF)

# Optimising instrumented code takes longer than all else of such a build: -O0 halves it, and reports name the right lines.
if(HONE_FUZZ)
  # Without the vptr check, which needs type information that LLVM's libraries lack.
  add_compile_options(-O0 -g1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize=vptr
                      -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
elseif(HONE_TSAN)
  add_compile_options(-O1 -g1 -fno-omit-frame-pointer -fsanitize=thread)
  add_link_options(-fsanitize=thread)
endif()
