// Changes of layout and shape, no arithmetic:
//   block(f32[N,C,..])     plain -> blocked, the same logical tensor
//   unblock(f32[N,C,..])   blocked -> plain, the same logical tensor
//   channels_last(f32[N,C,..]), channels_first(f32[N,C,..])   plain -> channels last, and back
//   flatten(f32[N,C,..])   -> plain [N, C*..]; an input of rank 4 or 5 is blocked, or as `layout` says
//   pad2d(f32[N,C,H,W], pad=t,l,b,r)  adds zeros around; blocked, or as `layout` says
#pragma once

#include <vector>

#include "op/defined_operator.h"

namespace hone::op {

std::vector<const Operator*> LayoutOperators();

// concat along the channels of blocked tensors.
Result<FixedKernel> BuildBlockedConcat(const Workload& workload, const Target& target);

}  // namespace hone::op
