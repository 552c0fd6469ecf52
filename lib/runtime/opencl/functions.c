#define _GNU_SOURCE
#include "runtime/opencl/functions.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char* hone_opencl_load(HoneOpenCl* cl, const char* library) {
  static _Thread_local char wrong[256];
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    snprintf(wrong, sizeof wrong, "no OpenCL: %s cannot be loaded (%s)", library, dlerror());
    return wrong;
  }
  const char* missing = NULL;
#define FIND(name)                                                  \
  cl->name = (__typeof__(cl->name))(uintptr_t)dlsym(handle, #name); \
  if (!cl->name) missing = #name;
  HONE_OPENCL_FUNCTIONS(FIND)
#undef FIND
  if (!missing) return NULL;
  dlclose(handle);
  snprintf(wrong, sizeof wrong, "no OpenCL 1.2: %s has no %s", library, missing);
  return wrong;
}

cl_uint hone_opencl_find(const HoneOpenCl* cl, cl_uint number, cl_platform_id* platform, cl_device_id* device) {
  static const cl_device_type kinds[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU};
  cl_platform_id platforms[16];
  cl_uint platform_count = 0, seen = 0;
  if (cl->clGetPlatformIDs(16, platforms, &platform_count) != CL_SUCCESS) platform_count = 0;
  for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; ++kind) {
    for (cl_uint i = 0; i < platform_count && i < 16; ++i) {
      cl_device_id ids[16];
      cl_uint count = 0;
      if (cl->clGetDeviceIDs(platforms[i], kinds[kind], 16, ids, &count) != CL_SUCCESS) continue;
      for (cl_uint k = 0; k < count && k < 16; ++k) {
        *platform = platforms[i];
        *device = ids[k];
        if (seen++ == number) return seen;
      }
    }
  }
  return seen;
}

int hone_opencl_is_fatal(cl_int error) {
  return error == CL_DEVICE_NOT_AVAILABLE || error == CL_OUT_OF_RESOURCES || error == CL_INVALID_COMMAND_QUEUE ||
         error == CL_INVALID_CONTEXT || error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

int hone_opencl_is_memory(cl_int error) {
  return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_INVALID_BUFFER_SIZE || error == CL_OUT_OF_HOST_MEMORY;
}

const char* hone_opencl_options(const HoneOpenCl* cl, cl_device_id device) {
  cl_device_fp_config config = 0;
  cl->clGetDeviceInfo(device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof config, &config, NULL);
  return config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ? "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt"
                                                      : "-cl-std=CL1.2";
}

void hone_opencl_build_error(const HoneOpenCl* cl, cl_program program, cl_device_id device, char* line, size_t size) {
  size_t length = 0;
  cl->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &length);
  char* log = calloc(1, length + 1);
  if (log) cl->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, length, log, NULL);
  const char* at = log ? strstr(log, "error") : NULL;
  while (at && at > log && at[-1] != '\n') --at;
  if (!at) at = log ? log + strspn(log, " \t\r\n") : "";
  at += strspn(at, " \t");
  snprintf(line, size, "%.*s", *at ? (int)strcspn(at, "\r\n") : 12, *at ? at : "no build log");
  free(log);
}

cl_int hone_opencl_seconds(const HoneOpenCl* cl, cl_event first, cl_event last, double* seconds) {
  cl_ulong begin = 0, end = 0;
  cl_int error = cl->clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
  if (error == CL_SUCCESS) error = cl->clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
  *seconds = 1e-9 * (double)(end - begin);
  return error;
}
