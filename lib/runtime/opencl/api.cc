#include "runtime/opencl/api.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <stdlib.h>

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
constexpr ErrorName kNames[] = {
    {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    {CL_PROFILING_INFO_NOT_AVAILABLE, "CL_PROFILING_INFO_NOT_AVAILABLE"},
    {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    {CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
    {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
    {CL_INVALID_BINARY, "CL_INVALID_BINARY"},
    {CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
    {CL_INVALID_PROGRAM, "CL_INVALID_PROGRAM"},
    {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
    {CL_INVALID_KERNEL, "CL_INVALID_KERNEL"},
    {CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX"},
    {CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE"},
    {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
    {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
    {CL_INVALID_WORK_DIMENSION, "CL_INVALID_WORK_DIMENSION"},
    {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
    {CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE"},
    {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
    {CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

Result<std::unique_ptr<OpenClApi>> Open(const std::string& library) {
  // PoCL keeps every program that it ever compiled on disk; candidates are compiled once and never again.
  setenv("POCL_KERNEL_CACHE", "0", /*overwrite=*/0);
  const std::string name = library.empty() ? "libOpenCL.so.1" : library;
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* words = dlerror();
    return Status::NotFound(
        fmt::format("no OpenCL: {} cannot be loaded ({}); {}", name, words ? words : "no reason given", kHowTo));
  }
  auto api = std::make_unique<OpenClApi>();
  const char* missing = nullptr;
  const auto find = [&](const char* function) {
    void* address = dlsym(handle, function);
    if (address == nullptr) missing = function;
    return address;
  };
#define HONE_FIND(function) api->function = reinterpret_cast<decltype(&::function)>(find(#function));
  HONE_OPENCL_FUNCTIONS(HONE_FIND)
#undef HONE_FIND
  if (missing != nullptr) {
    dlclose(handle);
    return Status::NotFound(fmt::format("no OpenCL 1.2: {} has no {}; {}", name, missing, kHowTo));
  }
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
  for (const ErrorName& row : kNames) {
    if (row.code == error) return fmt::format("{} ({})", row.name, error);
  }
  return fmt::format("OpenCL error {}", error);
}

bool IsFatal(cl_int error) {
  // A kernel's fault shows as one of these, at the next call or later, and the queue is of no more use.
  return error == CL_DEVICE_NOT_AVAILABLE || error == CL_OUT_OF_RESOURCES || error == CL_INVALID_COMMAND_QUEUE ||
         error == CL_INVALID_CONTEXT || error == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

}  // namespace hone::runtime
