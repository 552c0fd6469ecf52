// NVIDIA GPUs behind runtime/device, through the driver alone (libcuda.so.1, opened on first use).
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/device/device.h"

namespace hone::runtime {

// All functions use the driver's first device (CUDA_VISIBLE_DEVICES applies). `library` is the path or name of the
// driver's library; empty: the system's.

// Makes the device's primary context current in the calling thread, and keeps it until the device is destroyed. Returns
// kNotFound, with what to do, if there is no driver or no device; kIo if the device is not available now or does not
// identify itself. Tries for ten seconds if another process has the device for itself.
Result<std::unique_ptr<Device>> OpenCudaDevice(const std::string& library = "", Clock* clock = RealClock());
// Creates no context: takes milliseconds without a device, and uses no device memory with one.
Result<DeviceInfo> DescribeCudaDevice(const std::string& library = "");

// The major version of CUDA that the driver supports: it accepts code of that version and of older ones. 0 without a
// driver. Does not touch the device. Thread-safe.
int CudaDriverMajor(const std::string& library = "");

}  // namespace hone::runtime
