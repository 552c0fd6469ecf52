// Of a CUDA target's architecture.
#pragma once

#include <cstdint>
#include <string>

#include "target/target.h"

namespace hone {

// "sm_90a": 90. REQUIRES: IsArch (target/device_limits.h).
int CudaArchNumber(const std::string& arch);

// Shared memory that a block may have where its kernel asks for it (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability"); beyond 48 KiB it is given at launch. 0: not known of this architecture.
int64_t CudaSharedBytes(const std::string& arch);

// Can it copy from global to shared memory while it computes (cp.async)?
inline bool HasAsyncCopies(const Target& target) {
  return target.kind == TargetKind::kCuda && CudaArchNumber(target.cpu) >= 80;
}

// Can its warps multiply matrices of TF32 (mma.sync)?
inline bool HasTensorFloat32(const Target& target) {
  return target.kind == TargetKind::kCuda && CudaArchNumber(target.cpu) >= 80;
}

}  // namespace hone
