// What yuv_perf compares with: plain loops, compiled with -O3 and nothing else.
#pragma once

#include <cstdint>

#include "runtime/host/thread_pool.h"

namespace hone::perf {

// Each thread of the pool copies its share: a loop over floats; memcpy.
void CopyRows(runtime::ThreadPool* pool, const float* in, float* out, int64_t floats);
void MemcpyRows(runtime::ThreadPool* pool, const float* in, float* out, int64_t floats);
void YuvLoop(const float* in, float* out, int64_t pixels);

}  // namespace hone::perf
