// A loaded cubin: its kernels, their launches one by one or as a graph. Private to runtime/cuda.
#pragma once

#include <memory>

#include "base/result.h"
#include "runtime/cuda/opened_device.h"
#include "runtime/device/device.h"
#include "target/artifact.h"

namespace hone::runtime {

// What Device::Load promises. `device` must outlive the module.
Result<std::unique_ptr<DeviceModule>> LoadCudaModule(CudaDevice* device, const Artifact& artifact);

}  // namespace hone::runtime
