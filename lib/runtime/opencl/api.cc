#include "runtime/opencl/api.h"

#include <stdlib.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

namespace hone::runtime {
namespace {

constexpr char kHowTo[] =
    "install an OpenCL driver for the GPU, or the packages ocl-icd-libopencl1 and pocl-opencl-icd to run on the CPU";

struct ErrorName {
  cl_int code;
  const char* name;
};
#define HONE_NAMED(code) \
  { code, #code }
constexpr ErrorName kNames[] = {HONE_NAMED(CL_DEVICE_NOT_FOUND),
                                HONE_NAMED(CL_DEVICE_NOT_AVAILABLE),
                                HONE_NAMED(CL_COMPILER_NOT_AVAILABLE),
                                HONE_NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
                                HONE_NAMED(CL_OUT_OF_RESOURCES),
                                HONE_NAMED(CL_OUT_OF_HOST_MEMORY),
                                HONE_NAMED(CL_PROFILING_INFO_NOT_AVAILABLE),
                                HONE_NAMED(CL_BUILD_PROGRAM_FAILURE),
                                HONE_NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
                                HONE_NAMED(CL_INVALID_VALUE),
                                HONE_NAMED(CL_INVALID_DEVICE),
                                HONE_NAMED(CL_INVALID_CONTEXT),
                                HONE_NAMED(CL_INVALID_COMMAND_QUEUE),
                                HONE_NAMED(CL_INVALID_MEM_OBJECT),
                                HONE_NAMED(CL_INVALID_BINARY),
                                HONE_NAMED(CL_INVALID_BUILD_OPTIONS),
                                HONE_NAMED(CL_INVALID_PROGRAM),
                                HONE_NAMED(CL_INVALID_KERNEL_NAME),
                                HONE_NAMED(CL_INVALID_KERNEL),
                                HONE_NAMED(CL_INVALID_ARG_INDEX),
                                HONE_NAMED(CL_INVALID_ARG_VALUE),
                                HONE_NAMED(CL_INVALID_ARG_SIZE),
                                HONE_NAMED(CL_INVALID_KERNEL_ARGS),
                                HONE_NAMED(CL_INVALID_WORK_DIMENSION),
                                HONE_NAMED(CL_INVALID_WORK_GROUP_SIZE),
                                HONE_NAMED(CL_INVALID_WORK_ITEM_SIZE),
                                HONE_NAMED(CL_INVALID_BUFFER_SIZE),
                                HONE_NAMED(CL_INVALID_GLOBAL_WORK_SIZE),
                                {-1001, "CL_PLATFORM_NOT_FOUND_KHR"}};
#undef HONE_NAMED

// Khronos's loader splits the lists of these variables in place at its first call: children would inherit the first
// item alone, and find another device than this process. Makes that call, and restores the lists.
void FindPlatforms(const OpenClApi& api) {
  std::map<const char*, std::string> lists;
  for (const char* name : {"OCL_ICD_FILENAMES", "OPENCL_LAYERS"}) {
    if (const char* list = getenv(name)) lists[name] = list;
  }
  cl_uint count = 0;
  api.clGetPlatformIDs(0, nullptr, &count);
  for (const auto& [name, list] : lists) setenv(name, list.c_str(), 1);
}

Result<std::unique_ptr<OpenClApi>> Open(const std::string& library) {
  // PoCL keeps every program that it ever compiled on disk; candidates are compiled once and never again.
  setenv("POCL_KERNEL_CACHE", "0", /*overwrite=*/0);
  auto api = std::make_unique<OpenClApi>();
  if (const char* wrong = hone_opencl_load(api.get(), library.empty() ? "libOpenCL.so.1" : library.c_str())) {
    return Status::NotFound("{}; {}", wrong, kHowTo);
  }
  FindPlatforms(*api);
  return api;
}

}  // namespace

Result<const OpenClApi*> OpenClApi::Load(const std::string& library) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<OpenClApi>>* loaded =
      new std::map<std::string, std::unique_ptr<OpenClApi>>;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<OpenClApi>& api = (*loaded)[library];
  if (!api) {
    HONE_ASSIGN_OR_RETURN(api, Open(library));
  }
  return static_cast<const OpenClApi*>(api.get());
}

std::string OpenClErrorText(cl_int error) {
  const auto* row = std::ranges::find(kNames, error, &ErrorName::code);
  return row == std::end(kNames) ? fmt::format("OpenCL error {}", error) : fmt::format("{} ({})", row->name, error);
}

}  // namespace hone::runtime
