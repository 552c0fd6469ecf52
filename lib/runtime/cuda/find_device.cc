#include <cstring>

#include "runtime/cuda/opened_device.h"

namespace hone::runtime {
namespace {

// CUdevice_attribute.
enum DeviceAttribute {
  kMaxThreadsPerBlock = 1,
  kMaxBlockX = 2,  // followed by y and z
  kMaxGridX = 5,   // followed by y and z
  kSharedPerBlock = 8,
  kWarpSize = 10,
  kRegistersPerBlock = 12,
  kClockKilohertz = 13,
  kMultiprocessors = 16,
  kL2CacheBytes = 38,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kSharedPerBlockOptIn = 97,
};

}  // namespace

Result<DeviceInfo> FindCudaDevice(const CudaDriver& cuda, CudaDriver::Dev* device) {
  CudaDriver::Error error = cuda.cuDeviceGet(device, 0);
  if (CudaDriver::IsForNow(error)) return Status::Io("no CUDA device now: " + cuda.ErrorText(error));
  if (error != CudaDriver::kSuccess) return Status::NotFound("no CUDA device: " + cuda.ErrorText(error));
  DeviceInfo info;
  char name[256] = "";
  if (cuda.cuDeviceGetName(name, sizeof name, *device) == CudaDriver::kSuccess) info.name = name;
  // Under different names, two processes would time on it at the same time.
  CudaDriver::Uuid uuid = {}, slice = {};
  error = cuda.cuDeviceGetUuid(&uuid, *device);
  if (error == CudaDriver::kSuccess) error = cuda.cuDeviceGetUuid_v2(&slice, *device);
  if (error != CudaDriver::kSuccess) {
    return Status::Io(
        "no CUDA device now: device 0 does not say its UUID, by which jobs take turns on it: {}; run this again",
        cuda.ErrorText(error));
  }
  // Slices of one GPU have times of their own, but share memory, cache and power: they take turns.
  info.lock_name = info.identity = UuidText(uuid.bytes);
  if (std::memcmp(slice.bytes, uuid.bytes, sizeof uuid.bytes) != 0) info.identity = UuidText(slice.bytes, "MIG");
  int version = 0;
  if (cuda.cuDriverGetVersion(&version) == CudaDriver::kSuccess) {
    info.driver = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
  }
  if (const auto watch = GpuWatch::Open(info.lock_name, RealClock())) {
    info.release = watch->Release();
    info.power_watts = watch->ChangedPowerLimit();
  }
  size_t memory = 0;
  if (cuda.cuDeviceTotalMem_v2(&memory, *device) == CudaDriver::kSuccess) {
    info.memory_bytes = static_cast<int64_t>(memory);
  }
  const auto get = [&](int attribute, int64_t otherwise) -> int64_t {
    int value = 0;
    return cuda.cuDeviceGetAttribute(&value, attribute, *device) == CudaDriver::kSuccess && value > 0 ? value
                                                                                                      : otherwise;
  };
  const int major = static_cast<int>(get(kCapabilityMajor, 0)), minor = static_cast<int>(get(kCapabilityMinor, 0));
  info.arch = fmt::format("sm_{}{}", major, minor);
  DeviceLimits& limits = info.limits;
  limits.max_threads_per_block = get(kMaxThreadsPerBlock, limits.max_threads_per_block);
  for (int i = 0; i < 3; ++i) {
    const size_t axis = static_cast<size_t>(i);
    limits.max_block[axis] = get(kMaxBlockX + i, limits.max_block[axis]);
    limits.max_grid[axis] = get(kMaxGridX + i, limits.max_grid[axis]);
  }
  limits.shared_bytes_per_block = get(kSharedPerBlockOptIn, get(kSharedPerBlock, limits.shared_bytes_per_block));
  limits.registers_per_block = get(kRegistersPerBlock, limits.registers_per_block);
  limits.warp_size = get(kWarpSize, limits.warp_size);
  limits.multiprocessors = get(kMultiprocessors, limits.multiprocessors);
  info.cache_bytes = get(kL2CacheBytes, 0);
  const double hertz = 1e3 * static_cast<double>(get(kClockKilohertz, 0));
  // f32 units per multiprocessor, by compute capability: CUDA C++ Programming Guide, "Arithmetic Instructions".
  const int units = major == 7 || (major == 8 && minor == 0) || (major == 6 && minor == 0) ? 64 : 128;
  info.peak_flops = 2.0 * units * static_cast<double>(limits.multiprocessors) * hertz;
  return info;
}

}  // namespace hone::runtime
