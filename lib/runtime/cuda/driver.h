// NVIDIA's driver API by dlopen. Private to runtime/cuda.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/cuda/driver_functions.h"

namespace hone::runtime {

struct CudaDriver : HoneCuda {
  using Error = int;
  using Dev = int;
  using Handle = HoneCudaHandle;
  using Address = HoneCudaAddress;
  using Uuid = HoneCudaUuid;

  static constexpr Error kSuccess = HONE_CUDA_SUCCESS;

  // Loaded and initialised once in a process for each library and never unloaded. kNotFound, with what to install: no
  // driver, or no device. kIo: there is one, but not for now.
  static Result<const CudaDriver*> Load(const std::string& library);

  // Whether a device exists but is not available now: another process has it exclusively, it is starting, or memory is
  // short.
  static bool IsForNow(Error error) {
    return error == HONE_CUDA_OUT_OF_MEMORY || error == HONE_CUDA_DEVICE_UNAVAILABLE || error == HONE_CUDA_SYSTEM_NOT_READY;
  }

  std::string ErrorText(Error error) const;  // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access (700)"
};

}  // namespace hone::runtime
