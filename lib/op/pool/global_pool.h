// global_avg_pool, global_max_pool (f32[N,C,..]) -> [N,C,1,..], any rank from 3; blocked with four or five axes. A NaN
// makes its channel's maximum NaN.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Operator& GlobalAvgPool();
const Operator& GlobalMaxPool();

}  // namespace hone::op
