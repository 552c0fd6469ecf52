// The schedule on a GPU of what needs no tuning: made from the te DAG alone, so that every operator has one.
//
// What is no reduction is written into its readers. The outputs, and reductions that are smaller than what reads them
// (a row's sum, read by all of the row), are kernels of their own: their axes are fused and split over blocks and
// threads, neighbours in memory being neighbouring threads. A reduction with as many values as the output is made where
// it is read, in a register; where there are few values of long reductions, by the threads of a warp together.
// Where the outputs are a kernel's constants, their axes are not fused but each has its own index of blocks.
#pragma once

#include <vector>

#include "target/target.h"
#include "task/step.h"
#include "te/tensor.h"

namespace hone::op {

std::vector<Step> PlainGpuSteps(const std::vector<te::Tensor>& outputs, const DeviceLimits& limits);

}  // namespace hone::op
