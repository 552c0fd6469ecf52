// conv2d(f32[N,C,H,W], f32[O,C/groups,KH,KW], stride=1x1, pad=0,0,0,0, dilation=1x1, groups=1, in=nchw) + epilogue.
//
// The input is blocked unless `in=nchw` says that it is plain (a network's first layer). Output [N,O,OH,OW] with
// OH = floor((H + top + bottom - ((KH-1)*dilation + 1)) / stride) + 1, likewise OW.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Operator& Conv2d();

}  // namespace hone::op
