// max_pool3d, avg_pool3d (f32[N,C,D,H,W], kernel=AxBxC, stride=1x1x1, pad=0,.., dilation=1x1x1, ceil_mode=0; averages
// also count_include_pad=0) -> [N,C,OD,OH,OW]. Blocked. lib/semantics/windows.cc has the definition.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Operator& MaxPool3d();
const Operator& AvgPool3d();

}  // namespace hone::op
