// The schedule on a GPU of the kernels that pack constants, derived from their te DAG alone.
//
// Everything that is not a reduction is inlined into its readers. The outputs, and reductions that are smaller than
// their readers, are separate kernels, whose neighbouring threads have neighbours in memory. A reduction with as many
// values as the output is computed where it is read, in a register. The axes of outputs are not fused: each has its own
// index of blocks.
#pragma once

#include <vector>

#include "target/target.h"
#include "task/step.h"
#include "te/tensor.h"

namespace hone::op {

std::vector<Step> PackingSteps(const std::vector<te::Tensor>& constants, const DeviceLimits& limits);

}  // namespace hone::op
