#include "codegen/cuda/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include "base/text.h"
#include "target/cuda_arch.h"

namespace hone::codegen {

constexpr int kOldest = 12, kNewest = 13;

static std::string FirstError(const std::string& log) {
  for (const std::string& line : Split(log, '\n')) {
    if (line.find("error") != std::string::npos) return std::string(Trim(line));
  }
  return std::string(Trim(log.substr(0, log.find('\n'))));
}

Result<const Nvrtc*> Nvrtc::Open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* said = dlerror();
    const std::string words = said ? said : path + ": the loader gives no reason";
    // Distinguish a damaged file from a missing one.
    const bool absent = words.find("No such file") != std::string::npos;
    return absent ? Status::NotFound(words) : Status::Unsupported(words);
  }
  auto nvrtc = std::make_unique<Nvrtc>();
  nvrtc->path_ = path;
  const char* missing = nullptr;
#define HONE_FIND(name, result, parameters)                                   \
  nvrtc->name = reinterpret_cast<result(*) parameters>(dlsym(handle, #name)); \
  if (nvrtc->name == nullptr) missing = #name;
  HONE_NVRTC_FUNCTIONS(HONE_FIND)
#undef HONE_FIND
  if (missing != nullptr) {
    dlclose(handle);
    return Status::Unsupported("{}: has no {}; Hone needs NVRTC 12 or 13", path, missing);
  }
  if (nvrtc->nvrtcVersion(&nvrtc->major_, &nvrtc->minor_) != 0 || nvrtc->major_ < kOldest || nvrtc->major_ > kNewest) {
    const std::string version = nvrtc->Version();
    dlclose(handle);
    return Status::Unsupported("{}: is {}; Hone knows NVRTC 12 and 13", path, version);
  }
  int count = 0;
  if (nvrtc->nvrtcGetNumSupportedArchs(&count) == 0 && count > 0) {
    nvrtc->archs_.resize(static_cast<size_t>(count));
    if (nvrtc->nvrtcGetSupportedArchs(nvrtc->archs_.data()) != 0) nvrtc->archs_.clear();
  }
  return nvrtc.release();
}

Result<const Nvrtc*> Nvrtc::Load(const std::string& path) {
  static std::mutex mutex;
  static auto* loaded = new std::map<std::string, const Nvrtc*>;
  std::lock_guard<std::mutex> lock(mutex);
  const Nvrtc*& nvrtc = (*loaded)[path];
  if (nvrtc == nullptr) {
    HONE_ASSIGN_OR_RETURN(nvrtc, Open(path));
  }
  return nvrtc;
}

std::string Nvrtc::Version() const { return fmt::format("NVRTC {}.{}", major_, minor_); }

std::string Nvrtc::Name() const { return fmt::format("{} ({})", Version(), path_); }

bool Nvrtc::Supports(const std::string& arch) const {
  return archs_.empty() || std::find(archs_.begin(), archs_.end(), CudaArchNumber(arch)) != archs_.end();
}

std::string Nvrtc::Describe() const {
  std::vector<std::string> known;
  for (const int arch : archs_) known.push_back(fmt::format("sm_{}", arch));
  return fmt::format("{} compiles for {}", Name(), Join(known, ", "));
}

std::string Nvrtc::ErrorText(int error) const {
  const char* text = nvrtcGetErrorString(error);
  return fmt::format("{} ({})", text ? text : "unknown error", error);
}

Result<Nvrtc::Output> Nvrtc::Compile(const std::string& source, const std::string& arch) const {
  Program program = nullptr;
  int error = nvrtcCreateProgram(&program, source.c_str(), "kernel.cu", 0, nullptr, nullptr);
  if (error != 0) return Status::Invalid("{} makes no program: {}", Version(), ErrorText(error));
  struct Destroy {
    const Nvrtc* nvrtc;
    Program* program;
    ~Destroy() { nvrtc->nvrtcDestroyProgram(program); }
  } destroy{this, &program};
  const std::string architecture = "--gpu-architecture=" + arch;
  // Unused variables and arrays are not mistakes of the text.
  std::vector<const char*> options = {architecture.c_str(), "--ptxas-options=-v", "--diag-suppress=177,550"};
  if (major_ >= 13) options.push_back("--minimal");  // saves a tenth of the time
  error = nvrtcCompileProgram(program, static_cast<int>(options.size()), options.data());
  Output output;
  size_t size = 0;
  if (nvrtcGetProgramLogSize(program, &size) == 0 && size > 1) {
    output.log.resize(size);
    nvrtcGetProgramLog(program, output.log.data());
    output.log.resize(size - 1);  // without the final 0
  }
  if (error != 0) {
    return Status::Invalid("{} rejects the code: {}", Version(),
                           output.log.empty() ? ErrorText(error) : FirstError(output.log));
  }
  error = nvrtcGetCUBINSize(program, &size);
  if (error == 0) {
    output.cubin.resize(size);
    error = nvrtcGetCUBIN(program, output.cubin.data());
  }
  if (error != 0) return Status::Invalid("{} gives no cubin: {}", Version(), ErrorText(error));
  return output;
}

}  // namespace hone::codegen
