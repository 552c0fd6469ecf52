/* Candidates that misbehave, in the place of right ones: bad_worker.cc puts this file where a candidate was to be, and
 * the candidate beside it as FILE.real, with its symbol, the index and the size of its output in FILE.args. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/host/kernel_abi.h"

#define KERNEL(name) void name(void* const* buffers, const HoneParallel* parallel, char* workspace, char* scratch)
#define UNUSED (void)buffers, (void)parallel, (void)workspace, (void)scratch

static HoneKernel real_kernel, real_prepare;
static int output;
static long output_bytes;

static int whereami;

/* Once, on the first call: the loader unloads and loads this file for each candidate. */
static void open_real(void) {
  if (real_kernel) return;
  Dl_info info;
  char path[4096], symbol[256], prepare[256];
  if (!dladdr(&whereami, &info)) abort();
  snprintf(path, sizeof path, "%s.args", info.dli_fname);
  FILE* file = fopen(path, "r");
  if (!file || fscanf(file, "%255s %255s %d %ld", symbol, prepare, &output, &output_bytes) != 4) abort();
  fclose(file);
  snprintf(path, sizeof path, "%s.real", info.dli_fname);
  void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) abort();
  real_kernel = (HoneKernel)dlsym(handle, symbol);
  if (strcmp(prepare, "-") != 0) real_prepare = (HoneKernel)dlsym(handle, prepare);
  if (!real_kernel) abort();
}

KERNEL(bad_prepare) {
  open_real();
  if (real_prepare) real_prepare(buffers, parallel, workspace, scratch);
}

KERNEL(bad_crash) {
  UNUSED;
  static int* volatile nowhere = 0;
  *nowhere = 1;
}

KERNEL(bad_hang) {
  UNUSED;
  for (volatile long i = 0;; ++i) {
  }
}

KERNEL(bad_babbler) { /* prints for ever */
  UNUSED;
  static const char kLine[4096] = {'b'};
  while (write(2, kLine, sizeof kLine) > 0) {
  }
  abort();
}

KERNEL(bad_hoarder) { /* takes memory until there is none, and uses it all the same */
  UNUSED;
  for (;;) {
    char* piece = mmap(0, (size_t)1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *(volatile char*)piece = 1; /* of MAP_FAILED: a crash */
  }
}

KERNEL(bad_overrun) { /* the byte behind its output */
  open_real();
  real_kernel(buffers, parallel, workspace, scratch);
  *((volatile char*)buffers[output] + (output_bytes + 63) / 64 * 64) = 1;
}

KERNEL(bad_underrun) { /* the element in front of its output */
  open_real();
  real_kernel(buffers, parallel, workspace, scratch);
  *((volatile float*)buffers[output] - 1) = 1;
}

KERNEL(bad_moody) { /* wrong once in ten runs */
  open_real();
  static int runs = 0;
  real_kernel(buffers, parallel, workspace, scratch);
  if (++runs % 10 == 4) ((float*)buffers[output])[0] += 1000;
}
