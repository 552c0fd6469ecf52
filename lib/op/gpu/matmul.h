// Batched matrix products on GPUs.
#pragma once

#include "op/operator.h"

namespace hone::op {

// "batch_matmul.cuda": AutoTVM's; both inputs have three axes and the same batch.
const Template& GpuBatchMatmul();

// Its algorithm, "batches": the stage "out" [b, i, j] over k.
Result<Computation> ComputeGpuBatchMatmul(const Workload& workload, const Target& target, const Algorithm& algorithm);

// Whether it supports the matmul, with a block of at least a warp.
bool GpuBatchMatmulApplies(const Workload& workload, const Target& target);

}  // namespace hone::op
