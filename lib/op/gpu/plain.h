// The schedule on a GPU for operators that need no tuning: derived from the te DAG alone, so that every operator has
// one.
//
// Everything that is not a reduction is inlined into its readers. The outputs, and reductions that are smaller than
// their readers (a row's sum, which the whole row reads), are separate kernels: their axes are fused and split over
// blocks and threads, so that neighbours in memory are neighbouring threads. A reduction with as many values as the
// output is computed where it is read, in a register; for few values of long reductions, by the threads of a warp
// together. If the outputs are a kernel's constants, their axes are not fused: each has its own index of blocks.
#pragma once

#include <vector>

#include "target/target.h"
#include "task/step.h"
#include "te/tensor.h"

namespace hone::op {

std::vector<Step> PlainGpuSteps(const std::vector<te::Tensor>& outputs, const DeviceLimits& limits);

}  // namespace hone::op
