/* The functions of OpenCL 1.2 that Hone calls, and the order in which it looks for a device, for those who open the ICD
 * loader at run time: runtime/opencl and the OpenCL network libraries. C11 and C++. */
#ifndef HONE_RUNTIME_OPENCL_FUNCTIONS_H_
#define HONE_RUNTIME_OPENCL_FUNCTIONS_H_

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

/* GPUs of all platforms first, then accelerators, then CPUs: the device that is tuned for is number 0 of a library.
 * What is none of these (CL_DEVICE_TYPE_CUSTOM) does not compile OpenCL C. */
#define HONE_OPENCL_KINDS \
  { CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU }

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
  X(clCreateSubBuffer)           \
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

#endif
