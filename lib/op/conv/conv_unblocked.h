// Convolutions whose tensors are not in blocks of channels: `layout=nhwc`, and `layout=plain` on CPUs.
#pragma once

#include "op/operator.h"

namespace hone::op {

// Whether a workload's output is stored in another way than in blocks of `lanes` channels. Blocks of one channel are
// plain.
bool Unblocked(const Workload& workload, int lanes);

// The algorithm "direct" for them, with any groups: the stages "pad" (with padding), "acc" and "out" (if there is an
// epilogue). REQUIRES: a conv2d or conv3d. Schedules come from sketches (sketch/sums.h, sketch/gpu_sums.h).
Result<Computation> ComputeUnblocked(const Workload& workload, const Target& target, const Algorithm& algorithm);

}  // namespace hone::op
