// concat along the channels of blocked tensors.
#pragma once

#include "op/defined_operator.h"

namespace hone::op {

Result<FixedKernel> BuildBlockedConcat(const Workload& workload, const Target& target);

}  // namespace hone::op
