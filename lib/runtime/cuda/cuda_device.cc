#include "runtime/cuda/cuda_device.h"

#include <algorithm>
#include <utility>

#include "runtime/cuda/opened_device.h"

namespace hone::runtime {

using Error = CudaDriver::Error;

// In exclusive-process mode, a child that was killed may still have the device when the next one opens it.
constexpr double kOpenSeconds = 10, kOpenPause = 0.1;

CudaDevice::~CudaDevice() {
  if (start_) cuda_.cuEventDestroy_v2(start_);
  if (end_) cuda_.cuEventDestroy_v2(end_);
  if (stream_) cuda_.cuStreamDestroy_v2(stream_);
  if (context_) cuda_.cuDevicePrimaryCtxRelease_v2(device_);
}

Status CudaDevice::Open(Clock* clock) {
  const double until = clock->NowSeconds() + kOpenSeconds;
  Error error = cuda_.cuDevicePrimaryCtxRetain(&context_, device_);
  while (error == HONE_CUDA_DEVICE_UNAVAILABLE && clock->NowSeconds() < until) {
    clock->SleepSeconds(kOpenPause);
    error = cuda_.cuDevicePrimaryCtxRetain(&context_, device_);
  }
  if (error != CudaDriver::kSuccess) context_ = nullptr;
  if (error == HONE_CUDA_DEVICE_UNAVAILABLE) {
    return Status::Io("{}: another process has the device for itself (exclusive-process mode), or it is prohibited: {}",
                      info_.name, cuda_.ErrorText(error));
  }
  HONE_RETURN_IF_ERROR(Check(error, "making a context"));
  watch_ = GpuWatch::Open(info_.lock_name, clock);
  HONE_RETURN_IF_ERROR(Check(cuda_.cuCtxSetCurrent(context_), "making a context current"));
  HONE_RETURN_IF_ERROR(Check(cuda_.cuStreamCreate(&stream_, HONE_CUDA_STREAM_NON_BLOCKING), "making a stream"));
  HONE_RETURN_IF_ERROR(Check(cuda_.cuEventCreate(&start_, 0), "making an event"));
  return Check(cuda_.cuEventCreate(&end_, 0), "making an event");
}

Result<std::unique_ptr<DeviceBuffer>> CudaDevice::Allocate(int64_t bytes) {
  CudaDriver::Address address = 0;
  const Error error = cuda_.cuMemAlloc_v2(&address, static_cast<size_t>(std::max<int64_t>(bytes, 16)));
  if (error == HONE_CUDA_OUT_OF_MEMORY) {
    size_t free = 0, total = 0;
    cuda_.cuMemGetInfo_v2(&free, &total);
    return Status::Io("{}: out of memory: {} bytes asked for, {} of {} are free", info_.name, bytes, free, total);
  }
  HONE_RETURN_IF_ERROR(Check(error, "allocating memory"));
  return std::unique_ptr<DeviceBuffer>(std::make_unique<CudaBuffer>(cuda_, address, bytes));
}

Result<std::unique_ptr<DeviceBuffer>> CudaDevice::Part(const DeviceBuffer& whole, int64_t first, int64_t bytes) {
  const CudaDriver::Address address = AddressOf(whole) + static_cast<CudaDriver::Address>(first);
  return std::unique_ptr<DeviceBuffer>(std::make_unique<CudaBuffer>(cuda_, address, bytes, /*owned=*/false));
}

Status CudaDevice::CopyIn(DeviceBuffer* to, const void* from, int64_t bytes) {
  if (bytes > 0) {
    HONE_RETURN_IF_ERROR(Check(cuda_.cuMemcpyHtoDAsync_v2(AddressOf(*to), from, static_cast<size_t>(bytes), stream_),
                               "copying to the device"));
  }
  return Wait();
}

Status CudaDevice::CopyOut(void* to, const DeviceBuffer& from, int64_t bytes) {
  if (bytes > 0) {
    HONE_RETURN_IF_ERROR(Check(cuda_.cuMemcpyDtoHAsync_v2(to, AddressOf(from), static_cast<size_t>(bytes), stream_),
                               "copying from the device"));
  }
  return Wait();
}

Status CudaDevice::Copy(DeviceBuffer* to, const DeviceBuffer& from, int64_t bytes) {
  if (bytes <= 0) return Status();
  return Check(cuda_.cuMemcpyDtoDAsync_v2(AddressOf(*to), AddressOf(from), static_cast<size_t>(bytes), stream_),
               "copying on the device");
}

Status CudaDevice::Wait() { return Check(cuda_.cuStreamSynchronize(stream_), "waiting for the device"); }

Result<std::unique_ptr<DeviceModule>> CudaDevice::Load(const Artifact& artifact) {
  return LoadCudaModule(this, artifact);
}

Status CudaDevice::Check(Error error, const char* what) {
  if (error == CudaDriver::kSuccess) return Status();
  const Error state = lost_ || capturing || !stream_ ? CudaDriver::kSuccess : cuda_.cuStreamSynchronize(stream_);
  if (hone_cuda_is_sticky(state)) {
    lost_ = true;
    // No kernel can cause these: uncorrectable memory errors, or a device that left the bus or its system.
    broken_ = state == HONE_CUDA_DEVICE_UNAVAILABLE || state == HONE_CUDA_NO_DEVICE ||
              state == HONE_CUDA_ECC_UNCORRECTABLE || state == HONE_CUDA_NVLINK_UNCORRECTABLE ||
              state == HONE_CUDA_SYSTEM_NOT_READY || state == HONE_CUDA_MPS_CLIENT_TERMINATED;
  }
  return Status::Io("{}: {} failed: {}", info_.name, what, cuda_.ErrorText(error));
}

Result<std::unique_ptr<Device>> OpenCudaDevice(const std::string& library, Clock* clock) {
  HONE_ASSIGN_OR_RETURN(const CudaDriver* cuda, CudaDriver::Load(library));
  CudaDriver::Dev id = 0;
  HONE_ASSIGN_OR_RETURN(DeviceInfo info, FindCudaDevice(*cuda, &id));
  auto device = std::make_unique<CudaDevice>(*cuda, id, std::move(info));
  HONE_RETURN_IF_ERROR(device->Open(clock));
  return std::unique_ptr<Device>(std::move(device));
}

Result<DeviceInfo> DescribeCudaDevice(const std::string& library) {
  HONE_ASSIGN_OR_RETURN(const CudaDriver* cuda, CudaDriver::Load(library));
  CudaDriver::Dev id = 0;
  return FindCudaDevice(*cuda, &id);
}

}  // namespace hone::runtime
