#include <dlfcn.h>

#include <map>
#include <memory>
#include <mutex>

#include "runtime/cuda/opened_device.h"

namespace hone::runtime {

constexpr char kHowTo[] =
    "without an NVIDIA GPU here, send the jobs to a machine that has one (HONE_LAUNCHER; hone-tune --compile-only "
    "checks here that candidates compile), or tune for the target `opencl`";

static std::string NameOf(const std::string& library) { return library.empty() ? "libcuda.so.1" : library; }

static Result<const CudaDriver*> Open(const std::string& library) {
  auto cuda = std::make_unique<CudaDriver>();
  if (const char* wrong = hone_cuda_load(cuda.get(), NameOf(library).c_str())) {
    return Status::NotFound("no CUDA device: {}; {}", wrong, kHowTo);
  }
  int count = 0;
  CudaDriver::Error error = cuda->cuInit(0);
  if (error == CudaDriver::kSuccess) error = cuda->cuDeviceGetCount(&count);
  if (error != CudaDriver::kSuccess || count == 0) {
    const std::string why = error == CudaDriver::kSuccess ? "finds no device" : cuda->ErrorText(error);
    const std::string text = fmt::format("no CUDA device: the NVIDIA driver is installed, but {}; {}", why, kHowTo);
    return CudaDriver::IsForNow(error) ? Status::Io(text) : Status::NotFound(text);
  }
  return cuda.release();
}

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
  const char* text = nullptr;
  if (cuGetErrorString(error, &text) != kSuccess || text == nullptr) text = "";
  return fmt::format("{}{}{} ({})", hone_cuda_error_name(this, error), *text ? ": " : "", text, error);
}

}  // namespace hone::runtime
