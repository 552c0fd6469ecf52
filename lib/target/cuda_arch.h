// Of a CUDA target's architecture.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

#include "target/target.h"

namespace hone {

// "sm_90a": 90. REQUIRES: IsArch (target/device_limits.h).
inline int CudaArchNumber(const std::string& arch) {
  return std::atoi(arch.c_str() + std::min<size_t>(arch.size(), 3));
}

// Can it copy from global to shared memory while it computes (cp.async)?
inline bool HasAsyncCopies(const Target& target) {
  return target.kind == TargetKind::kCuda && CudaArchNumber(target.cpu) >= 80;
}

// Can its warps multiply matrices of TF32 (mma.sync)?
inline bool HasTensorFloat32(const Target& target) {
  return target.kind == TargetKind::kCuda && CudaArchNumber(target.cpu) >= 80;
}

}  // namespace hone
