/* Calls a kernel twice: run_kernel LIBRARY SYMBOL THREADS WORKSPACE SCRATCH ARGUMENTS SIZE.. The file ARGUMENTS has the
 * bytes of all arguments, of these sizes, one after the other; they are written back. Fails if the kernel writes beside
 * an argument. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/host/pool.h"

enum { kMost = 64, kGuard = 64, kFilling = 0x5a };

static void fail(const char* what) {
  fprintf(stderr, "run_kernel: %s\n", what);
  exit(1);
}

/* With kGuard bytes behind it. */
static char* allocate(size_t bytes) {
  char* data = aligned_alloc(64, (bytes + kGuard + 63) / 64 * 64);
  if (!data) fail("out of memory");
  memset(data, kFilling, bytes + kGuard);
  return data;
}

int main(int argc, char** argv) {
  const int count = argc - 7;
  if (count < 1 || count > kMost) fail("wrong number of arguments");
  void* library = dlopen(argv[1], RTLD_NOW);
  if (!library) fail(dlerror());
  HoneKernel kernel = (HoneKernel)dlsym(library, argv[2]);
  if (!kernel) fail(dlerror());
  HonePool* pool = hone_pool_create(atoi(argv[3]), 0);
  if (!pool || hone_pool_reserve(pool, atoll(argv[5])) != 0) fail("no threads");
  void* buffers[kMost];
  size_t bytes[kMost];
  FILE* file = fopen(argv[6], "rb");
  for (int i = 0; i < count; ++i) {
    bytes[i] = (size_t)atoll(argv[7 + i]);
    buffers[i] = allocate(bytes[i]);
    if (!file || fread(buffers[i], 1, bytes[i], file) != bytes[i]) fail("the arguments cannot be read");
  }
  fclose(file);
  const HoneParallel parallel = {hone_pool_launch, pool};
  const size_t workspace_bytes = (size_t)atoll(argv[4]);
  char* workspace = allocate(workspace_bytes);
  for (int i = 0; i < 2; ++i) kernel(buffers, &parallel, workspace, hone_pool_scratch(pool, 0));
  hone_pool_destroy(pool);
  for (int g = 0; g < kGuard; ++g) {
    for (int i = 0; i < count; ++i) {
      if (((char*)buffers[i])[bytes[i] + (size_t)g] != kFilling) fail("the kernel wrote behind an argument");
    }
    if (workspace[workspace_bytes + (size_t)g] != kFilling) fail("the kernel wrote behind the workspace");
  }
  file = fopen(argv[6], "wb");
  for (int i = 0; file && i < count; ++i) fwrite(buffers[i], 1, bytes[i], file);
  if (!file || fclose(file) != 0) fail("the arguments cannot be written");
  return 0;
}
