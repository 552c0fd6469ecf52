// The functions of OpenCL 1.2 that we call, found in the ICD loader at run time. Private to runtime/opencl.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <string>

#include "base/result.h"

namespace hone::runtime {

#define HONE_OPENCL_FUNCTIONS(X) \
  X(clGetPlatformIDs)            \
  X(clGetPlatformInfo)           \
  X(clGetDeviceIDs)              \
  X(clGetDeviceInfo)             \
  X(clCreateContext)             \
  X(clReleaseContext)            \
  X(clCreateCommandQueue)        \
  X(clReleaseCommandQueue)       \
  X(clCreateBuffer)              \
  X(clReleaseMemObject)          \
  X(clCreateProgramWithSource)   \
  X(clBuildProgram)              \
  X(clGetProgramBuildInfo)       \
  X(clReleaseProgram)            \
  X(clCreateKernel)              \
  X(clReleaseKernel)             \
  X(clSetKernelArg)              \
  X(clGetKernelWorkGroupInfo)    \
  X(clEnqueueNDRangeKernel)      \
  X(clEnqueueReadBuffer)         \
  X(clEnqueueWriteBuffer)        \
  X(clEnqueueCopyBuffer)         \
  X(clFinish)                    \
  X(clGetEventProfilingInfo)     \
  X(clReleaseEvent)

struct OpenClApi {
#define HONE_DECLARE(name) decltype(&::name) name = nullptr;
  HONE_OPENCL_FUNCTIONS(HONE_DECLARE)
#undef HONE_DECLARE

  // Loaded once in a process and never unloaded: drivers keep threads. kNotFound, with what to install.
  static Result<const OpenClApi*> Load(const std::string& library);
};

// "CL_OUT_OF_RESOURCES (-5)"
std::string OpenClErrorText(cl_int error);
// Whether the device is gone for this process.
bool IsFatal(cl_int error);

}  // namespace hone::runtime
