// Properties of CUDA architectures. `arch`: Target::cpu, which for other targets is not a CUDA architecture.
#pragma once

#include <cstdint>
#include <string>

#include "target/device_limits.h"

namespace hone {

// "sm_90a": 90. REQUIRES: IsArch (target/device_limits.h).
int CudaArchNumber(const std::string& arch);

// Shared memory that a block may have where its kernel asks for it (CUDA C++ Programming Guide, "Technical
// Specifications per Compute Capability"); beyond 48 KiB it is given at launch. 0: not known of this architecture.
int64_t CudaSharedBytes(const std::string& arch);

// Can it copy from global to shared memory while it computes (cp.async)?
inline bool HasAsyncCopies(const std::string& arch) {
  return IsCudaArch(arch) && CudaArchNumber(arch) >= 80;
}

// Can its warps multiply matrices of TF32 (mma.sync)?
inline bool HasTensorFloat32(const std::string& arch) {
  return IsCudaArch(arch) && CudaArchNumber(arch) >= 80;
}

}  // namespace hone
