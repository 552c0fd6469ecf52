/* The calling convention of host kernels: what codegen/llvm emits, and what every caller (the measuring child, the deployed
 * library) provides. C11, no dependency. Change it only together with HONE_KERNEL_ABI_VERSION. */
#ifndef HONE_RUNTIME_HOST_KERNEL_ABI_H_
#define HONE_RUNTIME_HOST_KERNEL_ABI_H_

#include <stdint.h>

#define HONE_KERNEL_ABI_VERSION 1

/* One range of a parallel loop: iterations [begin, end). `closure` is the kernel's own; `scratch` points to the calling
 * thread's private block (EntryPoint::scratch_bytes, 64-byte aligned, content undefined). */
typedef void (*HoneParallelBody)(void* closure, int64_t begin, int64_t end, char* scratch);

typedef struct HoneParallel {
  /* Runs body over [0, count), split into at most one contiguous range a thread, the same split each time; returns when
   * all are done. Not nested. */
  void (*launch)(void* pool, HoneParallelBody body, void* closure, int64_t count);
  void* pool;
} HoneParallel;

/* `buffers`: one pointer an argument, in order, each 64-byte aligned, no two overlapping (but
 * for an output over a residual, with kernels that library/in_place.h has found fit for it). `workspace`: EntryPoint::workspace_bytes, 64-byte aligned. `scratch`: for work outside parallel loops, the
 * calling thread's block. */
typedef void (*HoneKernel)(void* const* buffers, const HoneParallel* parallel, char* workspace, char* scratch);

#endif
