// Finds kernels that may write their output over their residual.
#pragma once

#include <vector>

#include "base/result.h"
#include "library/kernels.h"
#include "target/target.h"

namespace hone::library {

// The operand `residual` of a workload with an addition in its epilogue, in op::Operator::Operands order; -1 without
// one.
int ResidualOperand(const Workload& workload, const Target& target);

// For each kernel: whether its output may lie where its residual lies.
//
// Element i of the output needs only element i of the residual. So it suffices that a kernel writes each element once,
// after it has read the residual there: no partial sums in the output, and no tile that a ragged edge computes twice.
// Templates do not promise that, so each kernel is tested: it runs in one thread on random values, once with separate
// memory and once in place; equal bytes mean yes. The addresses that a kernel accesses do not depend on the values, and
// elements do not depend on each other's order, so the answer holds for all values and any number of threads.
//
// REQUIRES: this machine can run the target's code, as in MakeConstants.
Result<std::vector<bool>> InPlaceKernels(const std::vector<NetworkKernel>& kernels, const Target& target);

}  // namespace hone::library
