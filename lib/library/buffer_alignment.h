// Where buffers of a network may begin.
#pragma once

#include <cstdint>

#include "graph/memory_plan.h"
#include "target/target.h"

namespace hone::library {

// Bytes. CUDA: what its own allocations are aligned to. OpenCL: what today's devices ask of the parts of a buffer at
// most (CL_DEVICE_MEM_BASE_ADDR_ALIGN: 128 bytes in PoCL, up to 512 elsewhere).
inline int64_t BufferAlignment(const Target& target) {
  if (target.kind == TargetKind::kCuda) return 256;
  if (target.kind == TargetKind::kOpenCl) return 512;
  return graph::kArenaAlignment;
}

// The same of a slice of a buffer (library/concat_slices.h).
inline int64_t SliceAlignment(const Target& target) {
  return target.kind == TargetKind::kCuda ? 64 : BufferAlignment(target);
}

}  // namespace hone::library
