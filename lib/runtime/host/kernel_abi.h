/* The calling convention of host kernels: codegen/llvm emits it, and every caller (the measuring child, the deployed
 * library) follows it. C11, no dependencies. Change it only together with HONE_KERNEL_ABI_VERSION. */
#ifndef HONE_RUNTIME_HOST_KERNEL_ABI_H_
#define HONE_RUNTIME_HOST_KERNEL_ABI_H_

#include <stdint.h>

#define HONE_KERNEL_ABI_VERSION 1

/* One range of a parallel loop: iterations [begin, end). `closure` is private to the kernel; `scratch` points to the
 * calling thread's private block (EntryPoint::scratch_bytes, 64-byte aligned, content undefined). */
typedef void (*HoneParallelBody)(void* closure, int64_t begin, int64_t end, char* scratch);

typedef struct HoneParallel {
  /* Runs body over [0, count), split into at most one contiguous range per thread, the same split each time; returns
   * when all are done. Must not be nested. */
  void (*launch)(void* pool, HoneParallelBody body, void* closure, int64_t count);
  void* pool;
} HoneParallel;

/* `buffers`: one pointer per argument, in order, each 64-byte aligned. They must not overlap, except for an output over
 * a residual, if library/sharing.h accepts the kernel for that. `workspace`: EntryPoint::workspace_bytes, 64-byte
 * aligned. `scratch`: the calling thread's block, for work outside parallel loops. */
typedef void (*HoneKernel)(void* const* buffers, const HoneParallel* parallel, char* workspace, char* scratch);

#endif
