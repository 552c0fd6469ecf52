// NVIDIA GPUs behind runtime/device, through the driver alone (libcuda.so.1, opened when first asked for).
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "runtime/device/device.h"

namespace hone::runtime {

// All of these are about the driver's first device (CUDA_VISIBLE_DEVICES applies). `library`: path or name of the
// driver's library; empty: where the system has it.

// The device's primary context is made current in the calling thread and kept until the device is destroyed. kNotFound:
// no driver or no device; the message says what to do. kIo: there is one, but not for now, or it does not say which.
Result<std::unique_ptr<Device>> OpenCudaDevice(const std::string& library = "");
// Makes no context: takes milliseconds where there is no device, and leaves its memory alone where there is.
Result<DeviceInfo> DescribeCudaDevice(const std::string& library = "");

// The major version of CUDA that the driver is of: it takes the code of that one and of older ones. 0: no driver here.
// Asks no device and starts nothing. Thread-safe.
int CudaDriverMajor(const std::string& library = "");

}  // namespace hone::runtime
