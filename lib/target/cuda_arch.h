// Properties of CUDA architectures. `arch` is Target::cpu, which is not a CUDA architecture for other targets.
#pragma once

#include <cstdint>
#include <string>

#include "target/device_limits.h"

namespace hone {

// "sm_90a": 90. REQUIRES: IsArch (target/device_limits.h).
int CudaArchNumber(const std::string& arch);

// Shared memory that a block may request (CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability"); more than 48 KiB must be given at launch. 0 for an unknown architecture.
int64_t CudaSharedBytes(const std::string& arch);

// Whether it can copy from global to shared memory while it computes (cp.async).
inline bool HasAsyncCopies(const std::string& arch) {
  return IsCudaArch(arch) && CudaArchNumber(arch) >= 80;
}

// Whether its warps can multiply matrices of TF32 (mma.sync).
inline bool HasTensorFloat32(const std::string& arch) {
  return IsCudaArch(arch) && CudaArchNumber(arch) >= 80;
}

}  // namespace hone
