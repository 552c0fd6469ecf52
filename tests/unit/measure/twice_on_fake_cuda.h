// The kernels of the twice task (twice_task.h) as the fake driver (unit/device/fake_cuda.h) runs them, on the host.
#pragma once

#include "unit/measure/twice_task.h"

namespace hone::measure {

// pack2: packed = 2 * weight. All others: out = data * packed.
inline void LaunchTwice(const char* symbol, void* const* addresses, const unsigned[3], const unsigned[3]) {
  const float* a = static_cast<const float*>(addresses[0]);
  const float* b = static_cast<const float*>(addresses[1]);
  const bool pack = std::string(symbol) == "pack2";
  for (int i = 0; i < kCount; ++i) {
    if (pack) static_cast<float*>(addresses[1])[i] = 2 * a[i];
    if (!pack) static_cast<float*>(addresses[2])[i] = a[i] * b[i];
  }
}

inline BuiltKernel TwiceKernel(const TempDir& dir, const std::string& symbol, const std::string& format,
                               const std::string& bytes) {
  BuiltKernel kernel = TwiceKernel(symbol, "pack2");
  kernel.format = format;
  kernel.path = dir.Join(symbol + ".kernel");
  EXPECT_TRUE(WriteFileAtomic(kernel.path, bytes).ok());
  kernel.kernel.launches.push_back({symbol, {4, 1, 1}, {16, 1, 1}, 0, 0, {0, 1, 2}});
  kernel.prepare.launches.push_back({"pack2", {2, 1, 1}, {32, 1, 1}, 0, 0, {0, 1}});
  return kernel;
}

}  // namespace hone::measure
