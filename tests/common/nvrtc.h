// Tests that compile CUDA C need NVRTC, not a GPU.
#pragma once

#include <string>

#include "codegen/cuda/codegen.h"
#include "target/cuda_arch.h"

namespace hone {

// Why a test cannot compile for `arch` here: NVRTC is missing, or only NVRTC 13 exists, which begins at sm_75. Empty if
// it can, or if NVRTC is there and unusable, so that the test fails.
inline std::string NoNvrtcFor(const std::string& arch) {
  const Status status = codegen::NvrtcVersion(arch).status();
  if (status.kind() == StatusKind::kNotFound) return status.message();
  if (status.kind() == StatusKind::kUnsupported && CudaArchNumber(arch) < 75) return status.message();
  return "";
}

}  // namespace hone
