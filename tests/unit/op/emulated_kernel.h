// A kernel for AArch64 under emulation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "compile/compile.h"

namespace hone::testing {

class EmulatedKernel {
 public:
  static Result<EmulatedKernel> Create(const compile::CompiledKernel& compiled, int threads);

  struct Argument {
    char* data;  // read, and written back
    int64_t bytes;
  };
  // Returns kCorrupt if the kernel writes beside an argument or crashes.
  Status Run(const std::vector<Argument>& args) const;

 private:
  explicit EmulatedKernel(TempDir dir) : dir_(std::move(dir)) {}

  TempDir dir_;
  std::vector<std::string> argv_;
};

}  // namespace hone::testing
