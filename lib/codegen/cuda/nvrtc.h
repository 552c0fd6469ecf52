// NVRTC, loaded by dlopen, with our own declarations of the functions that we call. Private to codegen/cuda. Reference:
// https://docs.nvidia.com/cuda/nvrtc/
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::codegen {

#define HONE_NVRTC_FUNCTIONS(X)                                                                                 \
  X(nvrtcGetErrorString, const char*, (int))                                                                    \
  X(nvrtcVersion, int, (int*, int*))                                                                            \
  X(nvrtcGetNumSupportedArchs, int, (int*))                                                                     \
  X(nvrtcGetSupportedArchs, int, (int*))                                                                        \
  X(nvrtcCreateProgram, int, (Program*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(nvrtcDestroyProgram, int, (Program*))                                                                       \
  X(nvrtcCompileProgram, int, (Program, int, const char* const*))                                               \
  X(nvrtcGetCUBINSize, int, (Program, size_t*))                                                                 \
  X(nvrtcGetCUBIN, int, (Program, char*))                                                                       \
  X(nvrtcGetProgramLogSize, int, (Program, size_t*))                                                            \
  X(nvrtcGetProgramLog, int, (Program, char*))

class Nvrtc {
 public:
  // Loads each path once in a process and never unloads it. Returns kNotFound if the file does not exist; kUnsupported
  // if it is not an NVRTC that Hone knows. The latter's message begins with the path.
  static Result<const Nvrtc*> Load(const std::string& path);

  struct Output {
    std::string cubin;
    std::string log;  // warnings, and the assembler's report on each kernel
  };
  // REQUIRES: Supports(arch). Returns kInvalid with the first error of the log.
  Result<Output> Compile(const std::string& source, const std::string& arch) const;

  bool Supports(const std::string& arch) const;  // "sm_90"
  int major() const { return major_; }
  std::string Version() const;   // "NVRTC 13.0"
  std::string Name() const;      // "NVRTC 13.0 (libnvrtc.so.13)"
  std::string Describe() const;  // "NVRTC 13.0 (libnvrtc.so.13) compiles for sm_75, sm_80"

 private:
  using Program = void*;
  static Result<const Nvrtc*> Open(const std::string& path);
  std::string ErrorText(int error) const;

  std::string path_;
  int major_ = 0, minor_ = 0;
  std::vector<int> archs_;  // 75, 80, ..; empty: unknown

#define HONE_DECLARE(name, result, parameters) result(*name) parameters = nullptr;
  HONE_NVRTC_FUNCTIONS(HONE_DECLARE)
#undef HONE_DECLARE
};

// Chooses the NVRTC for an architecture. Each version drops the oldest architectures (13 begins at sm_75, 12 at sm_50)
// and does not know the newest, and a machine may have several versions. A driver accepts code of its own major version
// of CUDA and of older ones, and may refuse code of a newer one.
//
// Returns the first of `paths` that compiles for `arch` ("sm_90"; empty: the first one found) and whose major version
// is at most `newest` (0: any). Without paths, it searches the loader and the CUDA Toolkit, newest version first.
// Returns kNotFound if no NVRTC is found, kUnsupported if none of those found fits; both say in one line what was found
// and what to install. A failed call searches again next time; a successful choice is kept for this process.
// Thread-safe.
Result<const Nvrtc*> ChooseNvrtc(const std::vector<std::string>& paths, const std::string& arch, int newest);

}  // namespace hone::codegen
