// NVIDIA's driver API by dlopen, with our own declarations of the functions that we call. Private to runtime/cuda.
// Reference: https://docs.nvidia.com/cuda/cuda-driver-api/ ; the _v2 names are those that its header maps the plain
// names to, and have been in every driver since CUDA 4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace hone::runtime {

struct CudaDriver {
  using Error = int;
  using Dev = int;
  using Handle = void*;      // of a context, module, function, stream, event, graph
  using Address = uint64_t;  // CUdeviceptr
  struct Uuid {
    unsigned char bytes[16];
  };

  // Error numbers and attributes, as the driver API fixes them.
  static constexpr Error kSuccess = 0, kOutOfMemory = 2, kNoDevice = 100, kInvalidImage = 200, kNoBinaryForGpu = 209,
                         kInvalidPtx = 218, kNotFound = 500, kLaunchOutOfResources = 701;

#define HONE_CUDA_FUNCTIONS(X)                                                 \
  X(cuInit, Error, (unsigned))                                                 \
  X(cuDriverGetVersion, Error, (int*))                                         \
  X(cuGetErrorName, Error, (Error, const char**))                              \
  X(cuGetErrorString, Error, (Error, const char**))                            \
  X(cuDeviceGetCount, Error, (int*))                                           \
  X(cuDeviceGet, Error, (Dev*, int))                                           \
  X(cuDeviceGetName, Error, (char*, int, Dev))                                 \
  X(cuDeviceGetUuid, Error, (Uuid*, Dev))                                      \
  X(cuDeviceGetAttribute, Error, (int*, int, Dev))                             \
  X(cuDeviceTotalMem_v2, Error, (size_t*, Dev))                                \
  X(cuDevicePrimaryCtxRetain, Error, (Handle*, Dev))                           \
  X(cuDevicePrimaryCtxRelease_v2, Error, (Dev))                                \
  X(cuCtxSetCurrent, Error, (Handle))                                          \
  X(cuCtxSynchronize, Error, ())                                               \
  X(cuMemGetInfo_v2, Error, (size_t*, size_t*))                                \
  X(cuMemAlloc_v2, Error, (Address*, size_t))                                  \
  X(cuMemFree_v2, Error, (Address))                                            \
  X(cuMemcpyHtoDAsync_v2, Error, (Address, const void*, size_t, Handle))       \
  X(cuMemcpyDtoHAsync_v2, Error, (void*, Address, size_t, Handle))             \
  X(cuMemcpyDtoDAsync_v2, Error, (Address, Address, size_t, Handle))           \
  X(cuModuleLoadData, Error, (Handle*, const void*))                           \
  X(cuModuleUnload, Error, (Handle))                                           \
  X(cuModuleGetFunction, Error, (Handle*, Handle, const char*))                \
  X(cuFuncGetAttribute, Error, (int*, int, Handle))                            \
  X(cuFuncSetAttribute, Error, (Handle, int, int))                             \
  X(cuStreamCreate, Error, (Handle*, unsigned))                                \
  X(cuStreamDestroy_v2, Error, (Handle))                                       \
  X(cuStreamSynchronize, Error, (Handle))                                      \
  X(cuStreamBeginCapture_v2, Error, (Handle, int))                             \
  X(cuStreamEndCapture, Error, (Handle, Handle*))                              \
  X(cuGraphInstantiateWithFlags, Error, (Handle*, Handle, unsigned long long)) \
  X(cuGraphLaunch, Error, (Handle, Handle))                                    \
  X(cuGraphExecDestroy, Error, (Handle))                                       \
  X(cuGraphDestroy, Error, (Handle))                                           \
  X(cuEventCreate, Error, (Handle*, unsigned))                                 \
  X(cuEventDestroy_v2, Error, (Handle))                                        \
  X(cuEventRecord, Error, (Handle, Handle))                                    \
  X(cuEventSynchronize, Error, (Handle))                                       \
  X(cuEventElapsedTime, Error, (float*, Handle, Handle))                       \
  X(cuLaunchKernel, Error,                                                     \
    (Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void**, void**))

#define HONE_DECLARE(name, result, parameters) result(*name) parameters = nullptr;
  HONE_CUDA_FUNCTIONS(HONE_DECLARE)
#undef HONE_DECLARE

  // Loaded and initialised once in a process for each library and never unloaded. kNotFound, with what to install: no
  // driver, or no device.
  static Result<const CudaDriver*> Load(const std::string& library);

  std::string ErrorText(Error error) const;  // "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access (700)"
};

}  // namespace hone::runtime
