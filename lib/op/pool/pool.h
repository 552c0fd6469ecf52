// max_pool2d(f32[N,C,H,W], kernel=KHxKW, stride=1x1, pad=0,0,0,0, dilation=1x1, ceil_mode=0), avg_pool2d (also
// count_include_pad=0), and the same of [N,C,D,H,W]: max_pool3d, avg_pool3d. Blocked. lib/semantics/windows.cc has the
// definition.
//
// OH = floor((H + top + bottom - KH) / stride) + 1; with ceil_mode=1 rounded up, but a window that would start in the
// padding behind the input is dropped. pad < kernel, so that every window holds an element. An average divides by the
// number of elements inside the input, with count_include_pad=1 by those inside the padded input.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Operator& MaxPool2d();
const Operator& AvgPool2d();
const Operator& MaxPool3d();
const Operator& AvgPool3d();

}  // namespace hone::op
