// concat along the channels of blocked tensors.
#pragma once

#include "op/operator.h"

namespace hone::op {

Result<Instance> BuildBlockedConcat(const Workload& workload, const Target& target);

}  // namespace hone::op
