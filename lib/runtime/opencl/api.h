// OpenCL's functions (runtime/opencl/functions.h), found in the ICD loader at run time. Private to runtime/opencl.
#pragma once

#include <string>

#include "base/result.h"
#include "runtime/opencl/functions.h"

namespace hone::runtime {

struct OpenClApi : HoneOpenCl {
  // Loads the library once in a process and never unloads it. kNotFound, with what to install.
  static Result<const OpenClApi*> Load(const std::string& library);
};

// "CL_OUT_OF_RESOURCES (-5)"
std::string OpenClErrorText(cl_int error);

}  // namespace hone::runtime
