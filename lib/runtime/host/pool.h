/* The thread pool of host kernels, in plain C11 so that a deployed network carries the very same code.
 *
 * hone_pool_launch splits [0, count) into one contiguous range a thread, the same split each time (so that the same
 * rows stay on the same core), runs range 0 on the calling thread and returns when all are done. Workers spin for about
 * 50 microseconds after a loop, then sleep until the next one; while more threads are ready than there are cores they
 * hand the core on soon instead. One launch at a time: two threads may not launch on one pool at once, and bodies do
 * not nest. Linux only (futex, sched_setaffinity); needs libc alone. */
#ifndef HONE_RUNTIME_HOST_POOL_H_
#define HONE_RUNTIME_HOST_POOL_H_

#include <stddef.h>
#include <stdint.h>

#include "runtime/host/kernel_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct HonePool HonePool;

/* `threads` is at least 1 and includes the caller. `pin` binds worker i to the i-th core that the calling thread may
 * use; it does not bind the calling thread (hone_pool_pin_caller binds that to the 0th). Returns NULL if memory or
 * threads run out. */
HonePool* hone_pool_create(int threads, int pin);
/* NULL is allowed. In a child of fork(), frees the child's copy. */
void hone_pool_destroy(HonePool* pool);

int hone_pool_threads(const HonePool* pool);

/* Nonzero in a child of fork() that lacks the pool's workers: fork() copies only the thread that calls it. A launch
 * would wait for ever. Always 0 for a pool of one thread, which has no workers. */
int hone_pool_forked(const HonePool* pool);

/* Binds the calling thread to the pool's first core until it destroys the pool; returns 0 on success. A pool created by
 * a pinned thread can use only that core: create all pools first. */
int hone_pool_pin_caller(HonePool* pool);

/* Makes every thread's scratch block at least `bytes` large. Returns 0 on success; on failure nothing changes. Do not
 * call it during a launch. */
int hone_pool_reserve(HonePool* pool, int64_t bytes);

/* Gives the threads other scratch blocks, one each, which the caller owns. NULL restores the blocks of reserve. Do not
 * call it during a launch. */
void hone_pool_lend_scratch(HonePool* pool, char* const* blocks);

/* The scratch block of thread `index`: 64-byte aligned, NULL before the first loan or reserve of more than 0 bytes.
 * Pass thread 0's block as a kernel's own `scratch` argument. */
char* hone_pool_scratch(HonePool* pool, int index);

/* Implements HoneParallel.launch, with `pool` as HoneParallel.pool. */
void hone_pool_launch(void* pool, HoneParallelBody body, void* closure, int64_t count);

#ifdef __cplusplus
}
#endif

#endif
