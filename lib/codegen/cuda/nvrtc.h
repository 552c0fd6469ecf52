// NVRTC by dlopen, with our own declarations of the ten functions that we call. Private to codegen/cuda.
// Reference: https://docs.nvidia.com/cuda/nvrtc/
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::codegen {

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
  std::string Version() const;                   // "NVRTC 13.0"
  std::string Name() const;                      // "NVRTC 13.0 (libnvrtc.so.13)"
  std::string Describe() const;                  // "NVRTC 13.0 (libnvrtc.so.13) compiles for sm_75, sm_80"

 private:
  using Program = void*;
  static Result<const Nvrtc*> Open(const std::string& path);
  std::string ErrorText(int error) const;

  std::string path_;
  int major_ = 0, minor_ = 0;
  std::vector<int> archs_;  // 75, 80, ..; empty: it does not say

  const char* (*get_error_string_)(int) = nullptr;
  int (*version_)(int*, int*) = nullptr;
  int (*get_num_archs_)(int*) = nullptr;
  int (*get_archs_)(int*) = nullptr;
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*cubin_size_)(Program, size_t*) = nullptr;
  int (*cubin_)(Program, char*) = nullptr;
  int (*log_size_)(Program, size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
};

}  // namespace hone::codegen
