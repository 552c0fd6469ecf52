// NVIDIA's driver API, loaded by dlopen, and a device with its context and stream, as modules and buffers use it.
// Private to runtime/cuda.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/cuda/cuda_device.h"
#include "runtime/cuda/driver_functions.h"
#include "runtime/cuda/nvml.h"
#include "runtime/device/device.h"
#include "target/artifact.h"

namespace hone::runtime {

struct CudaDriver : HoneCuda {
  using Error = int;
  using Dev = int;
  using Handle = HoneCudaHandle;
  using Address = HoneCudaAddress;
  using Uuid = HoneCudaUuid;

  static constexpr Error kSuccess = HONE_CUDA_SUCCESS;

  // Loads and initialises each library once in a process, and never unloads it. Returns kNotFound, with what to
  // install, if there is no driver or no device; kIo if the device is not available now.
  static Result<const CudaDriver*> Load(const std::string& library);

  // Whether a device exists but is not available now: another process has it exclusively, it is starting, or memory is
  // short.
  static bool IsForNow(Error error) {
    return error == HONE_CUDA_OUT_OF_MEMORY || error == HONE_CUDA_DEVICE_UNAVAILABLE ||
           error == HONE_CUDA_SYSTEM_NOT_READY;
  }

  std::string ErrorText(Error error) const;  // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access (700)"
};

// The first device and its properties. Creates no context. Errors as in DescribeCudaDevice.
Result<DeviceInfo> FindCudaDevice(const CudaDriver& cuda, CudaDriver::Dev* device);

class CudaBuffer : public DeviceBuffer {
 public:
  // A part (owned = false) is not freed.
  CudaBuffer(const CudaDriver& cuda, CudaDriver::Address address, int64_t bytes, bool owned = true)
      : DeviceBuffer(bytes), cuda_(cuda), address_(address), owned_(owned) {}
  ~CudaBuffer() override {
    if (owned_) cuda_.cuMemFree_v2(address_);
  }
  CudaDriver::Address address() const { return address_; }

 private:
  const CudaDriver& cuda_;
  CudaDriver::Address address_;
  bool owned_;
};

inline CudaDriver::Address AddressOf(const DeviceBuffer& buffer) {
  return static_cast<const CudaBuffer&>(buffer).address();
}

class CudaDevice : public Device {
 public:
  CudaDevice(const CudaDriver& cuda, CudaDriver::Dev device, DeviceInfo info)
      : cuda_(cuda), device_(device), info_(std::move(info)) {}
  ~CudaDevice() override;

  Status Open(Clock* clock);

  const DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<DeviceBuffer>> Allocate(int64_t bytes) override;
  Result<std::unique_ptr<DeviceBuffer>> Part(const DeviceBuffer& whole, int64_t first, int64_t bytes) override;
  Status CopyIn(DeviceBuffer* to, const void* from, int64_t bytes) override;
  Status CopyOut(void* to, const DeviceBuffer& from, int64_t bytes) override;
  Status Copy(DeviceBuffer* to, const DeviceBuffer& from, int64_t bytes) override;
  Status Wait() override;
  std::string Slowed() override { return watch_ ? watch_->Slowed() : ""; }
  Result<std::unique_ptr<DeviceModule>> Load(const Artifact& artifact) override;

  // If the context cannot recover from a failure, the next wait for its stream fails as well, whatever the number of
  // this error.
  Status Check(CudaDriver::Error error, const char* what);

  bool capturing = false;  // waiting is not allowed now, so it cannot tell the state of the context

  const CudaDriver& cuda() const { return cuda_; }
  CudaDriver::Handle stream() const { return stream_; }
  CudaDriver::Handle start() const { return start_; }
  CudaDriver::Handle end() const { return end_; }

 private:
  const CudaDriver& cuda_;
  CudaDriver::Dev device_;
  DeviceInfo info_;
  std::unique_ptr<GpuWatch> watch_;  // null: nothing is known
  CudaDriver::Handle context_ = nullptr, stream_ = nullptr;
  CudaDriver::Handle start_ = nullptr, end_ = nullptr;  // events
};

// Implements Device::Load: a loaded cubin whose launches run one by one or as a graph. `device` must outlive the
// module.
Result<std::unique_ptr<DeviceModule>> LoadCudaModule(CudaDevice* device, const Artifact& artifact);

}  // namespace hone::runtime
