// Dense layers on GPUs. Names with a dot are AutoTVM's, as in gpu/conv2d.h.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

const Template& GpuDenseSmall();  // "dense_small_batch.gpu": the threads of a block sum one output
const Template& GpuDenseLarge();  // "dense_large_batch.gpu": tiles of outputs, inputs through shared memory
const Template& GpuDenseRows();   // "dense_gpu_rows": a warp or more per output, several outputs per block

// The competing templates of a layer; the first one fits any layer.
std::vector<const Template*> GpuDenseTemplates(const Workload& workload);

}  // namespace hone::op
