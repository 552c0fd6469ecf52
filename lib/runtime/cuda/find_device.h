// Which of the driver's devices is meant, and what the driver says of it. Private to runtime/cuda.
#pragma once

#include "base/result.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/driver.h"
#include "runtime/device/device.h"

namespace hone::runtime {

// Makes no context. Errors as of DescribeCudaDevice.
Result<DeviceInfo> FindCudaDevice(const CudaDriver& cuda, const CudaDeviceOptions& options, CudaDriver::Dev* device);

}  // namespace hone::runtime
