#define _GNU_SOURCE
#include "runtime/cuda/driver_functions.h"

#include <dlfcn.h>
#include <stdio.h>

const char* hone_cuda_load(HoneCuda* cuda, const char* library) {
  static _Thread_local char wrong[256];
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    snprintf(wrong, sizeof wrong, "the NVIDIA driver's %s cannot be loaded (%s)", library, dlerror());
    return wrong;
  }
  const char* missing = NULL;
#define FIND(name, parameters)                                     \
  cuda->name = (int(*) parameters)(uintptr_t)dlsym(handle, #name); \
  if (!cuda->name) missing = #name;
  HONE_CUDA_FUNCTIONS(FIND)
#undef FIND
  if (!missing) return NULL;
  dlclose(handle);
  snprintf(wrong, sizeof wrong, "%s has no %s: the NVIDIA driver is too old, 525 or newer is needed", library, missing);
  return wrong;
}

const char* hone_cuda_error_name(const HoneCuda* cuda, int error) {
  const char* name = NULL;
  return cuda->cuGetErrorName(error, &name) == HONE_CUDA_SUCCESS && name ? name : "an unknown error";
}

int hone_cuda_is_sticky(int error) {
  switch (error) {
    /* The device is gone, or was taken from us. */
    case HONE_CUDA_DEVICE_UNAVAILABLE:
    case HONE_CUDA_NO_DEVICE:
    case HONE_CUDA_ECC_UNCORRECTABLE:
    case HONE_CUDA_NVLINK_UNCORRECTABLE:
    case HONE_CUDA_SYSTEM_NOT_READY:
    case HONE_CUDA_MPS_CLIENT_TERMINATED:
    /* "This leaves the process in an inconsistent state", or the context must be destroyed. */
    case 226: /* CONTAINED */
    case 700: /* ILLEGAL_ADDRESS */
    case 702: /* LAUNCH_TIMEOUT */
    case 709: /* CONTEXT_IS_DESTROYED */
    case 710: /* ASSERT */
    case 714: /* HARDWARE_STACK_ERROR */
    case 715: /* ILLEGAL_INSTRUCTION */
    case 716: /* MISALIGNED_ADDRESS */
    case 717: /* INVALID_ADDRESS_SPACE */
    case 718: /* INVALID_PC */
    case 719: /* LAUNCH_FAILED */
    case 721: /* TENSOR_MEMORY_LEAK */
    case 911: /* EXTERNAL_DEVICE */
    case 999: /* UNKNOWN: not documented as such, but a device that left the bus gives it */
      return 1;
    default:
      return 0;
  }
}

int hone_cuda_refuses_code(int error) {
  return error == HONE_CUDA_NO_BINARY_FOR_GPU || error == HONE_CUDA_INVALID_IMAGE || error == HONE_CUDA_INVALID_PTX;
}

int hone_cuda_find_kernel(const HoneCuda* cuda, HoneCudaHandle module, const char* symbol, uint64_t threads,
                          uint64_t dynamic_shared_bytes, HoneCudaHandle* kernel, int* most) {
  int error = cuda->cuModuleGetFunction(kernel, module, symbol);
  if (error == HONE_CUDA_SUCCESS) error = cuda->cuFuncGetAttribute(most, HONE_CUDA_FUNCTION_MAX_THREADS, *kernel);
  if (error != HONE_CUDA_SUCCESS || threads > (uint64_t)*most || dynamic_shared_bytes == 0) return error;
  return cuda->cuFuncSetAttribute(*kernel, HONE_CUDA_FUNCTION_MAX_DYNAMIC_SHARED, (int)dynamic_shared_bytes);
}
