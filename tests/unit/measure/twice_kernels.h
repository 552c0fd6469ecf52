/* The right candidate for the task of twice_task.h, for files of candidates in C: out[i] = data[i] * packed[i], packed[i] =
 * 2 * weight[i]. */
#pragma once

#include "runtime/host/kernel_abi.h"

enum { kCount = 64 };

#define KERNEL(name) void name(void* const* buffers, const HoneParallel* parallel, char* workspace, char* scratch)
#define UNUSED (void)buffers, (void)parallel, (void)workspace, (void)scratch

static void Right(void* const* buffers) {
  const float* data = buffers[0];
  const float* packed = buffers[1];
  float* out = buffers[2];
  for (int i = 0; i < kCount; ++i) out[i] = data[i] * packed[i];
}

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
