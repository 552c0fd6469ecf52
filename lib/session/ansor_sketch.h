// A schedule of TVM's Ansor in Hone's steps.
#pragma once

#include <vector>

#include "base/result.h"
#include "record/foreign_formats.h"
#include "target/target.h"
#include "task/step.h"
#include "task/workload.h"

namespace hone::session {

// The steps that schedule the computation of `workload` (algorithm `direct`) as Ansor's `steps` schedule theirs.
//
// Ansor numbers the stages of its computation, inputs included, and the loops of a stage. They must mean the same here:
// an operator with the same tensors, each after those that it reads, and the same loops, such as matmul and dense;
// here, there may be axes of extent 1 more. The schedule cannot be wrong: steps never change what is computed. Ansor's
// local copies become registers if all their loops are unrolled or vectorized, else scratch. Its `compute_at` are
// performed last, as Hone fuses loops before that.
//
// Returns kUnsupported with the number and the words of the first step that has no form here (RF, SA, tensorize, a kind
// that is not known), or that the computation does not accept, with the reason.
Result<std::vector<Step>> StepsOfAnsor(const std::vector<record::AnsorStep>& steps, const Workload& workload,
                                       const Target& target);

}  // namespace hone::session
