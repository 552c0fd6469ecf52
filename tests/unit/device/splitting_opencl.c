// An OpenCL loader without platforms that, like Khronos's, splits a list in its environment in place at the first call.
#define clGetPlatformIDs declared_elsewhere
#include "runtime/opencl/functions.h"
#undef clGetPlatformIDs

#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wattribute-alias"
static cl_int Fail(void) { return CL_INVALID_VALUE; }
#define clGetPlatformIDs declared_elsewhere
#define DEFINE(name) extern __typeof__(name) name __attribute__((alias("Fail")));
HONE_OPENCL_FUNCTIONS(DEFINE)
#undef clGetPlatformIDs

cl_int clGetPlatformIDs(cl_uint most, cl_platform_id* platforms, cl_uint* count) {
  (void)most, (void)platforms;
  if (count) *count = 0;
  static int calls;
  char* list = calls++ == 0 ? getenv("OCL_ICD_FILENAMES") : NULL;
  char* end = list ? strchr(list, ':') : NULL;
  if (end) *end = 0;
  return CL_SUCCESS;
}
