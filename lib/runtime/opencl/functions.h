/* OpenCL 1.2 as Hone calls it: the part that runtime/opencl and the OpenCL network libraries share. C11 and C++. */
#ifndef HONE_RUNTIME_OPENCL_FUNCTIONS_H_
#define HONE_RUNTIME_OPENCL_FUNCTIONS_H_

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stddef.h>

#define HONE_OPENCL_FUNCTIONS(X)  \
  X(clGetPlatformIDs)             \
  X(clGetPlatformInfo)            \
  X(clGetDeviceIDs)               \
  X(clGetDeviceInfo)              \
  X(clCreateContext)              \
  X(clReleaseContext)             \
  X(clCreateCommandQueue)         \
  X(clReleaseCommandQueue)        \
  X(clCreateBuffer)               \
  X(clCreateSubBuffer)            \
  X(clReleaseMemObject)           \
  X(clCreateProgramWithSource)    \
  X(clBuildProgram)               \
  X(clGetProgramBuildInfo)        \
  X(clReleaseProgram)             \
  X(clCreateKernel)               \
  X(clReleaseKernel)              \
  X(clSetKernelArg)               \
  X(clGetKernelWorkGroupInfo)     \
  X(clEnqueueNDRangeKernel)       \
  X(clEnqueueReadBuffer)          \
  X(clEnqueueWriteBuffer)         \
  X(clEnqueueCopyBuffer)          \
  X(clEnqueueMarkerWithWaitList)  \
  X(clEnqueueBarrierWithWaitList) \
  X(clFlush)                      \
  X(clFinish)                     \
  X(clGetEventProfilingInfo)      \
  X(clReleaseEvent)

typedef struct HoneOpenCl {
#ifdef __cplusplus
#define HONE_DECLARE(name) decltype(&::name) name;
#else
#define HONE_DECLARE(name) __typeof__(&name) name;
#endif
  HONE_OPENCL_FUNCTIONS(HONE_DECLARE)
#undef HONE_DECLARE
} HoneOpenCl;

#ifdef __cplusplus
extern "C" {
#endif

#define HONE_OPENCL_HIDDEN __attribute__((visibility("hidden")))

/* Opens the ICD loader, until the process ends (drivers keep threads), and finds its functions. Returns NULL, or an
 * error message in this thread's memory. */
const char* hone_opencl_load(HoneOpenCl* cl, const char* library) HONE_OPENCL_HIDDEN;
/* Finds device `number`, counted from 0: GPUs of all platforms first, then accelerators, then CPUs. Tuning uses number
 * 0, which is also a library's default. Other devices (CL_DEVICE_TYPE_CUSTOM) cannot compile OpenCL C and are skipped.
 * Returns the number of devices up to that one: `number` + 1 if it was found. */
cl_uint hone_opencl_find(const HoneOpenCl* cl, cl_uint number, cl_platform_id* platform,
                         cl_device_id* device) HONE_OPENCL_HIDDEN;
/* Whether the error means that this process has lost the device. A kernel's fault causes such an error at the next call
 * or later. */
int hone_opencl_is_fatal(cl_int error) HONE_OPENCL_HIDDEN;
int hone_opencl_is_memory(cl_int error) HONE_OPENCL_HIDDEN; /* out of memory? */
/* Options for the compiler: division and square roots follow IEEE 754 if the device supports that. */
const char* hone_opencl_options(const HoneOpenCl* cl, cl_device_id device) HONE_OPENCL_HIDDEN;
/* The error line of a build log: the first with "error", else the first one. */
void hone_opencl_build_error(const HoneOpenCl* cl, cl_program program, cl_device_id device, char* line,
                             size_t size) HONE_OPENCL_HIDDEN;
/* From the start of one command to the end of another. */
cl_int hone_opencl_seconds(const HoneOpenCl* cl, cl_event first, cl_event last, double* seconds) HONE_OPENCL_HIDDEN;

#ifdef __cplusplus
}
#endif

#endif
