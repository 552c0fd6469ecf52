#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <map>
#include <memory>
#include <mutex>

#include "runtime/cuda/cuda_device.h"

namespace hone::runtime {
namespace {

constexpr char kHowTo[] =
    "without an NVIDIA GPU here, send the jobs to a machine that has one (HONE_LAUNCHER; hone-tune --compile-only "
    "checks here that candidates compile), or tune for the target `opencl`";

std::string NameOf(const std::string& library) { return library.empty() ? "libcuda.so.1" : library; }

Result<const CudaDriver*> Open(const std::string& library) {
  const std::string name = NameOf(library);
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* words = dlerror();
    return Status::NotFound(fmt::format("no CUDA device: the NVIDIA driver's {} cannot be loaded ({}); {}", name,
                                        words ? words : "no reason given", kHowTo));
  }
  auto cuda = std::make_unique<CudaDriver>();
  const char* missing = nullptr;
  const auto find = [&](auto* function, const char* symbol) {
    *function = reinterpret_cast<std::remove_reference_t<decltype(*function)>>(dlsym(handle, symbol));
    if (*function == nullptr) missing = symbol;
  };
#define HONE_FIND(symbol, parameters) find(&cuda->symbol, #symbol);
  HONE_CUDA_FUNCTIONS(HONE_FIND)
#undef HONE_FIND
  if (missing != nullptr) {
    dlclose(handle);
    return Status::NotFound(
        fmt::format("no CUDA device: {} has no {}: the NVIDIA driver is too old, 525 or newer is "
                    "needed; {}",
                    name, missing, kHowTo));
  }
  int count = 0;
  CudaDriver::Error error = cuda->cuInit(0);
  if (error == CudaDriver::kSuccess) error = cuda->cuDeviceGetCount(&count);
  if (error != CudaDriver::kSuccess || count == 0) {
    const std::string why = error == CudaDriver::kSuccess ? "there is none" : cuda->ErrorText(error);
    dlclose(handle);
    const std::string text = fmt::format("no CUDA device: the NVIDIA driver is there, but {}; {}", why, kHowTo);
    return CudaDriver::IsForNow(error) ? Status::Io(text) : Status::NotFound(text);
  }
  return cuda.release();
}

}  // namespace

Result<const CudaDriver*> CudaDriver::Load(const std::string& library) {
  static std::mutex mutex;
  static auto* loaded = new std::map<std::string, const CudaDriver*>;
  std::lock_guard<std::mutex> lock(mutex);
  const CudaDriver*& driver = (*loaded)[library];
  if (driver == nullptr) {
    HONE_ASSIGN_OR_RETURN(driver, Open(library));
  }
  return driver;
}

int CudaDriverMajor(const std::string& library) {
  static std::mutex mutex;
  static auto* known = new std::map<std::string, int>;
  std::lock_guard<std::mutex> lock(mutex);
  int& major = (*known)[library];
  if (major > 0) return major;
  void* handle = dlopen(NameOf(library).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return 0;
  const auto ask = reinterpret_cast<CudaDriver::Error (*)(int*)>(dlsym(handle, "cuDriverGetVersion"));
  int version = 0;
  if (ask != nullptr && ask(&version) == CudaDriver::kSuccess) major = version / 1000;
  if (major == 0) dlclose(handle);
  return major;
}

std::string CudaDriver::ErrorText(Error error) const {
  const char* name = nullptr;
  const char* text = nullptr;
  if (cuGetErrorName(error, &name) != kSuccess || name == nullptr) name = "an unknown error";
  if (cuGetErrorString(error, &text) != kSuccess || text == nullptr) text = "";
  return fmt::format("{}{}{} ({})", name, *text ? ": " : "", text, error);
}

}  // namespace hone::runtime
