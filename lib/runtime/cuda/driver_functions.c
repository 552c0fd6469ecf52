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
