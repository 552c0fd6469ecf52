// The kernels of the twice task (twice_task.h) as the fake driver (unit/device/fake_cuda.h) runs them, on the host.
#pragma once

#include <string>

#include "unit/measure/twice_task.h"

namespace hone::measure {

// pack2: packed = 2 * weight. Any other: out = data * packed.
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
  BuiltKernel kernel;
  kernel.config.template_name = "c";
  kernel.format = format;
  kernel.path = dir.Join(symbol + ".kernel");
  EXPECT_TRUE(WriteFileAtomic(kernel.path, bytes).ok());
  const auto arg = [](const std::string& name, bool written) {
    return ArtifactArg{name, DType::Float(32), kCount, written};
  };
  kernel.kernel = {symbol, {arg("data", false), arg("packed", false), arg("out", true)}, 0, 0};
  kernel.kernel.launches.push_back({symbol, {4, 1, 1}, {16, 1, 1}, 0, 0, {0, 1, 2}});
  using Kind = ArgSource::Kind;
  kernel.kernel_args = {{Kind::kOperand, 0}, {Kind::kPrepared, 0}, {Kind::kOperand, 2}};
  kernel.has_prepare = true;
  kernel.prepare = {"pack2", {arg("weight", false), arg("packed", true)}, 0, 0};
  kernel.prepare.launches.push_back({"pack2", {2, 1, 1}, {32, 1, 1}, 0, 0, {0, 1}});
  kernel.prepare_args = {{Kind::kOperand, 1}, {Kind::kPrepared, 0}};
  kernel.prepared = {{"packed", DType::Float(32), kCount}};
  return kernel;
}

}  // namespace hone::measure
