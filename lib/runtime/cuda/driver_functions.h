/* NVIDIA's driver API as Hone calls it, with our own declarations: the part that runtime/cuda and the CUDA network
 * libraries share. C11 and C++. Reference: https://docs.nvidia.com/cuda/cuda-driver-api/ ; its header maps the plain
 * names to the _v2 names, which every driver has had since CUDA 4. All functions return an error number. */
#ifndef HONE_RUNTIME_CUDA_DRIVER_FUNCTIONS_H_
#define HONE_RUNTIME_CUDA_DRIVER_FUNCTIONS_H_

#include <stddef.h>
#include <stdint.h>

typedef uint64_t HoneCudaAddress; /* CUdeviceptr */
typedef void* HoneCudaHandle;     /* a context, module, function, stream, event or graph */
typedef struct HoneCudaUuid {
  unsigned char bytes[16];
} HoneCudaUuid;

/* Error numbers (the sticky ones: hone_cuda_is_sticky), CUdevice_attribute, CUfunction_attribute and flags of the
 * driver API. */
enum {
  HONE_CUDA_SUCCESS = 0,
  HONE_CUDA_INVALID_VALUE = 1,
  HONE_CUDA_OUT_OF_MEMORY = 2,
  HONE_CUDA_DEVICE_UNAVAILABLE = 46,
  HONE_CUDA_NO_DEVICE = 100,
  HONE_CUDA_INVALID_IMAGE = 200,
  HONE_CUDA_NO_BINARY_FOR_GPU = 209,
  HONE_CUDA_ECC_UNCORRECTABLE = 214,
  HONE_CUDA_INVALID_PTX = 218,
  HONE_CUDA_NVLINK_UNCORRECTABLE = 220,
  HONE_CUDA_NOT_FOUND = 500,
  HONE_CUDA_LAUNCH_OUT_OF_RESOURCES = 701,
  HONE_CUDA_SYSTEM_NOT_READY = 802,
  HONE_CUDA_MPS_CLIENT_TERMINATED = 810,

  HONE_CUDA_ATTRIBUTE_CAPABILITY_MAJOR = 75,
  HONE_CUDA_ATTRIBUTE_CAPABILITY_MINOR = 76,

  HONE_CUDA_FUNCTION_MAX_THREADS = 0,
  HONE_CUDA_FUNCTION_MAX_DYNAMIC_SHARED = 8,

  HONE_CUDA_STREAM_NON_BLOCKING = 1,
  HONE_CUDA_EVENT_DISABLE_TIMING = 2,
  HONE_CUDA_CAPTURE_THREAD_LOCAL = 1
};

#define HONE_CUDA_FUNCTIONS(X)                                                                             \
  X(cuInit, (unsigned))                                                                                    \
  X(cuDriverGetVersion, (int*))                                                                            \
  X(cuGetErrorName, (int, const char**))                                                                   \
  X(cuGetErrorString, (int, const char**))                                                                 \
  X(cuDeviceGetCount, (int*))                                                                              \
  X(cuDeviceGet, (int*, int))                                                                              \
  X(cuDeviceGetName, (char*, int, int))                                                                    \
  X(cuDeviceGetUuid, (HoneCudaUuid*, int))    /* of the whole GPU */                                       \
  X(cuDeviceGetUuid_v2, (HoneCudaUuid*, int)) /* of the MIG slice, if it is one */                         \
  X(cuDeviceGetAttribute, (int*, int, int))                                                                \
  X(cuDeviceTotalMem_v2, (size_t*, int))                                                                   \
  X(cuDevicePrimaryCtxRetain, (HoneCudaHandle*, int))                                                      \
  X(cuDevicePrimaryCtxRelease_v2, (int))                                                                   \
  X(cuCtxSetCurrent, (HoneCudaHandle))                                                                     \
  X(cuCtxPushCurrent_v2, (HoneCudaHandle))                                                                 \
  X(cuCtxPopCurrent_v2, (HoneCudaHandle*))                                                                 \
  X(cuMemGetInfo_v2, (size_t*, size_t*))                                                                   \
  X(cuMemAlloc_v2, (HoneCudaAddress*, size_t))                                                             \
  X(cuMemFree_v2, (HoneCudaAddress))                                                                       \
  X(cuMemcpyHtoDAsync_v2, (HoneCudaAddress, const void*, size_t, HoneCudaHandle))                          \
  X(cuMemcpyDtoHAsync_v2, (void*, HoneCudaAddress, size_t, HoneCudaHandle))                                \
  X(cuMemcpyDtoDAsync_v2, (HoneCudaAddress, HoneCudaAddress, size_t, HoneCudaHandle))                      \
  X(cuModuleLoadData, (HoneCudaHandle*, const void*))                                                      \
  X(cuModuleUnload, (HoneCudaHandle))                                                                      \
  X(cuModuleGetFunction, (HoneCudaHandle*, HoneCudaHandle, const char*))                                   \
  X(cuFuncGetAttribute, (int*, int, HoneCudaHandle))                                                       \
  X(cuFuncSetAttribute, (HoneCudaHandle, int, int))                                                        \
  X(cuStreamCreate, (HoneCudaHandle*, unsigned))                                                           \
  X(cuStreamDestroy_v2, (HoneCudaHandle))                                                                  \
  X(cuStreamSynchronize, (HoneCudaHandle))                                                                 \
  X(cuStreamWaitEvent, (HoneCudaHandle, HoneCudaHandle, unsigned))                                         \
  X(cuStreamBeginCapture_v2, (HoneCudaHandle, int))                                                        \
  X(cuStreamEndCapture, (HoneCudaHandle, HoneCudaHandle*))                                                 \
  X(cuGraphInstantiateWithFlags, (HoneCudaHandle*, HoneCudaHandle, unsigned long long))                    \
  X(cuGraphUpload, (HoneCudaHandle, HoneCudaHandle))                                                       \
  X(cuGraphLaunch, (HoneCudaHandle, HoneCudaHandle))                                                       \
  X(cuGraphExecDestroy, (HoneCudaHandle))                                                                  \
  X(cuGraphDestroy, (HoneCudaHandle))                                                                      \
  X(cuEventCreate, (HoneCudaHandle*, unsigned))                                                            \
  X(cuEventDestroy_v2, (HoneCudaHandle))                                                                   \
  X(cuEventRecord, (HoneCudaHandle, HoneCudaHandle))                                                       \
  X(cuEventSynchronize, (HoneCudaHandle))                                                                  \
  X(cuEventElapsedTime, (float*, HoneCudaHandle, HoneCudaHandle))                                          \
  X(cuLaunchKernel, (HoneCudaHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                     HoneCudaHandle, void**, void**))

typedef struct HoneCuda {
#define HONE_DECLARE(name, parameters) int(*name) parameters;
  HONE_CUDA_FUNCTIONS(HONE_DECLARE)
#undef HONE_DECLARE
} HoneCuda;

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_CUDA_HIDDEN __attribute__((visibility("hidden")))

/* Opens the driver's library, until the process ends, and finds its functions. Returns NULL, or an error message in
 * this thread's memory. */
const char* hone_cuda_load(HoneCuda* cuda, const char* library) HONE_CUDA_HIDDEN;
/* "CUDA_ERROR_ILLEGAL_ADDRESS" */
const char* hone_cuda_error_name(const HoneCuda* cuda, int error) HONE_CUDA_HIDDEN;
/* Whether the process has lost the device if its own stream fails with this error: all later calls fail with it too.
 * Errors of captures (900 to 908) are never among them: somebody else's capture may cause them. */
int hone_cuda_is_sticky(int error) HONE_CUDA_HIDDEN;
/* Whether the error means that the device does not accept the code. */
int hone_cuda_refuses_code(int error) HONE_CUDA_HIDDEN;
/* Finds a kernel and reserves its shared memory. Sets *most to the number of threads that a block of it may have; with
 * more `threads` the kernel cannot be launched, which is not an error here. */
int hone_cuda_find_kernel(const HoneCuda* cuda, HoneCudaHandle module, const char* symbol, uint64_t threads,
                          uint64_t dynamic_shared_bytes, HoneCudaHandle* kernel, int* most) HONE_CUDA_HIDDEN;

#ifdef __cplusplus
}
#endif

#endif
