// conv3d(f32[N,C,D,H,W], f32[O,C/groups,KD,KH,KW], stride=1x1x1, pad=0,.. (front,top,left,back,bottom,right),
// dilation=1x1x1, groups=1, in=blocked) + epilogue -> [N,O,OD,OH,OW]. Blocked; in=ncdhw: a plain input.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Operator& Conv3d();

}  // namespace hone::op
