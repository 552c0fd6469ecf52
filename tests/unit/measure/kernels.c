/* Candidates for the measuring tests, good and bad: out[i] = data[i] * packed[i], packed[i] = 2 * weight[i], 64 elements. */
#include <stdint.h>

#include "runtime/host/kernel_abi.h"

enum { kCount = 64 };

static void Right(void* const* buffers) {
  const float* data = buffers[0];
  const float* packed = buffers[1];
  float* out = buffers[2];
  for (int i = 0; i < kCount; ++i) out[i] = data[i] * packed[i];
}

#define KERNEL(name) void name(void* const* buffers, const HoneParallel* parallel, char* workspace, char* scratch)
#define UNUSED (void)parallel, (void)workspace, (void)scratch

KERNEL(pack) {
  UNUSED;
  const float* weight = buffers[0];
  float* packed = buffers[1];
  for (int i = 0; i < kCount; ++i) packed[i] = 2 * weight[i];
}

KERNEL(right) {
  UNUSED;
  Right(buffers);
}

/* Uses what it was promised: workspace and scratch. */
KERNEL(right_with_memory) {
  (void)parallel;
  for (int i = 0; i < 4096; ++i) workspace[i] = scratch[i] = (char)i;
  Right(buffers);
}

KERNEL(wrong) {
  UNUSED;
  Right(buffers);
  ((float*)buffers[2])[5] += 1;
}

KERNEL(forgetful) { /* leaves the last element as it was */
  UNUSED;
  float* out = buffers[2];
  float last = out[kCount - 1];
  Right(buffers);
  out[kCount - 1] = last;
}

KERNEL(spoiler) { /* wrong, and writes into its constants and inputs */
  UNUSED;
  for (int i = 0; i < kCount; ++i) ((float*)buffers[0])[i] = ((float*)buffers[1])[i] = 7;
  Right(buffers);
}

KERNEL(overrun) {
  UNUSED;
  Right(buffers);
  ((volatile float*)buffers[2])[kCount] = 1;
}

KERNEL(crash) {
  UNUSED;
  (void)buffers;
  static int* volatile nowhere = 0; /* volatile, lest the compiler sees through it */
  *nowhere = 1;
}

KERNEL(hang) {
  UNUSED;
  (void)buffers;
  for (volatile int64_t i = 0;; ++i) {
  }
}

KERNEL(slow) { /* some hundred microseconds at least on any machine */
  UNUSED;
  for (volatile int64_t i = 0; i < 500000; ++i) {
  }
  Right(buffers);
}
