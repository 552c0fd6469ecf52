// Which kernels may write their output over their residual.
#pragma once

#include <vector>

#include "base/result.h"
#include "library/kernels.h"
#include "target/target.h"

namespace hone::library {

// The operand `residual` of a workload with an addition in its epilogue, in op::Operator::Operands order; -1 if it has
// none.
int ResidualOperand(const Workload& workload, const Target& target);

// For each kernel: true if its output may lie where its residual lies.
//
// Element i of the output needs element i of the residual and no other one, so that it is enough that a kernel writes
// each element once, after it has read the residual there: no partial sums in the output, no tile that is computed
// twice at a ragged edge. Templates do not promise that, so each kernel is asked: it runs here in one thread, once with
// the two apart and once in place, on random values; equal bytes mean yes. The places that a kernel reads and writes do
// not depend on the values, and elements do not depend on one another's order, so the answer holds for all values and
// any number of threads.
//
// REQUIRES: this machine runs the target's code, as in MakeConstants.
Result<std::vector<bool>> InPlaceKernels(const std::vector<NetworkKernel>& kernels, const Target& target);

}  // namespace hone::library
