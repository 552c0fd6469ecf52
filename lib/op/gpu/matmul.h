// Batches of products of matrices on GPUs.
#pragma once

#include "op/operator.h"

namespace hone::op {

// "batch_matmul.cuda": AutoTVM's; both inputs have three axes and one batch.
const Template& GpuBatchMatmul();

// Its algorithm, "batches": the stage "out" [b, i, j] over k.
Result<Computation> ComputeGpuBatchMatmul(const Workload& workload, const Target& target, const Algorithm& algorithm);

// Is there a matmul for it, and a block of at least a warp?
bool GpuBatchMatmulApplies(const Workload& workload, const Target& target);

}  // namespace hone::op
