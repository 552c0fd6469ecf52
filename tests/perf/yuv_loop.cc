#include "perf/yuv_loop.h"

#include <cstring>

namespace hone::perf {
namespace {

struct Copy {
  const float* in;
  float* out;
  int64_t floats;
};
constexpr int64_t kPart = 1920 * 3 * 4;

void CopyRange(void* closure, int64_t begin, int64_t end, char*) {
  const Copy& c = *static_cast<Copy*>(closure);
  for (int64_t i = begin * kPart; i < end * kPart && i < c.floats; ++i) c.out[i] = c.in[i];
}

void MemcpyRange(void* closure, int64_t begin, int64_t end, char*) {
  const Copy& c = *static_cast<Copy*>(closure);
  const int64_t last = end * kPart < c.floats ? end * kPart : c.floats;
  std::memcpy(c.out + begin * kPart, c.in + begin * kPart, static_cast<size_t>(last - begin * kPart) * sizeof(float));
}

}  // namespace

void CopyRows(runtime::ThreadPool* pool, const float* in, float* out, int64_t floats) {
  Copy copy{in, out, floats};
  const HoneParallel parallel = pool->parallel();
  parallel.launch(parallel.pool, CopyRange, &copy, (floats + kPart - 1) / kPart);
}

void MemcpyRows(runtime::ThreadPool* pool, const float* in, float* out, int64_t floats) {
  Copy copy{in, out, floats};
  const HoneParallel parallel = pool->parallel();
  parallel.launch(parallel.pool, MemcpyRange, &copy, (floats + kPart - 1) / kPart);
}

void YuvLoop(const float* __restrict in, float* __restrict out, int64_t pixels) {
  for (int64_t i = 0; i < pixels; ++i) {
    const float r = in[3 * i], g = in[3 * i + 1], b = in[3 * i + 2];
    out[3 * i] = 0.257F * r + 0.504F * g + 0.098F * b;
    out[3 * i + 1] = -0.148F * r - 0.291F * g + 0.439F * b;
    out[3 * i + 2] = 0.439F * r - 0.368F * g - 0.071F * b;
  }
}

}  // namespace hone::perf
