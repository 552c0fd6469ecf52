// NVRTC by dlopen, with our own declarations of the functions that we call. Private to codegen/cuda.
// Reference: https://docs.nvidia.com/cuda/nvrtc/
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
  // Loaded once in a process for each path and never unloaded. kNotFound: there is no such file. kUnsupported: there
  // is, but it is no NVRTC that Hone knows; the message begins with the path.
  static Result<const Nvrtc*> Load(const std::string& path);

  struct Output {
    std::string cubin;
    std::string log;  // warnings, and what the assembler says of each kernel
  };
  // REQUIRES: Supports(arch). kInvalid: the first error of the log.
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
  std::vector<int> archs_;  // 75, 80, ..; empty: it does not say

#define HONE_DECLARE(name, result, parameters) result(*name) parameters = nullptr;
  HONE_NVRTC_FUNCTIONS(HONE_DECLARE)
#undef HONE_DECLARE
};

// Which NVRTC compiles for an architecture: each version leaves out the oldest (13 begins at sm_75, 12 at sm_50) and
// does not know the newest, and a machine may have several. A driver takes the code of its own major version of CUDA
// and of older ones; that of a newer one it may refuse.
//
// The first of `paths` that compiles for `arch` ("sm_90"; empty: the first there is) and is of the major version
// `newest` at most (0: of any). No paths: the newest version first, where the loader finds it and where the CUDA
// Toolkit is installed. kNotFound: there is none. kUnsupported: none of those there are. Both say in one line what
// there is and what to install; the next call looks again, where one that was found stays the choice of this process.
// Thread-safe.
Result<const Nvrtc*> ChooseNvrtc(const std::vector<std::string>& paths, const std::string& arch, int newest);

}  // namespace hone::codegen
