// Changes of layout and shape, no arithmetic:
//   block(f32[N,C,..])     plain -> blocked, the same logical tensor
//   unblock(f32[N,C,..])   blocked -> plain, the same logical tensor
//   flatten(f32[N,C,..])   -> plain [N, C*..]; an input of rank 4 or 5 is blocked
//   pad2d(f32[N,C,H,W], pad=t,l,b,r)  adds zeros around; blocked
#pragma once

#include <vector>

#include "op/defined_operator.h"

namespace hone::op {

std::vector<const Operator*> LayoutOperators();

// concat along the channels of blocked tensors.
Result<FixedKernel> BuildBlockedConcat(const Workload& workload, const Target& target);

}  // namespace hone::op
