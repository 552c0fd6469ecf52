// NVIDIA's management library, if libnvidia-ml.so.1 is installed: what a GPU says of its clocks, its power limit and
// the programs that use it. Private to runtime/cuda. Reference: https://docs.nvidia.com/deploy/nvml-api/
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"

namespace hone::runtime {

class GpuWatch {
 public:
  // `uuid` is that of the whole GPU (DeviceInfo::lock_name). Returns null without the library, or if it does not know
  // the GPU. Facts that it does not tell stay unknown.
  static std::unique_ptr<GpuWatch> Open(const std::string& uuid, Clock* clock);
  virtual ~GpuWatch() = default;

  virtual std::string Release() = 0;        // of the driver: "550.54.15"; empty if unknown
  virtual int64_t ChangedPowerLimit() = 0;  // in watts, if it is not the GPU's default; else 0
  // Device::Slowed. For other programs to be seen, this process must have a context on the GPU.
  virtual std::string Slowed() = 0;
};

}  // namespace hone::runtime
