// Dense layers on GPUs. Names with a dot are AutoTVM's, as in gpu/conv2d.h.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

const Template& GpuDenseSmall();  // "dense_small_batch.gpu": the threads of a block add up one output
const Template& GpuDenseLarge();  // "dense_large_batch.gpu": tiles of outputs, inputs by way of shared memory
const Template& GpuDenseRows();   // "dense_gpu_rows": a warp or more an output, several outputs a block

// Those that compete for a layer, one that any layer can have first.
std::vector<const Template*> GpuDenseTemplates(const Workload& workload);

}  // namespace hone::op
