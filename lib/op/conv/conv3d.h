// conv3d(f32[N,C,D,H,W], f32[O,C/groups,KD,KH,KW], stride=1x1x1, pad=0,.. (front,top,left,back,bottom,right),
// dilation=1x1x1, groups=1, in=blocked) + epilogue -> [N,O,OD,OH,OW]. Blocked; in=ncdhw: a plain input.
#pragma once

#include "op/operator.h"
#include "semantics/window.h"

namespace hone::op {

const Operator& Conv3d();

// The numbers of a three-dimensional convolution, read from its workload.
struct Conv3dShape {
  int64_t n = 1, c = 1, o = 1, cg = 1, groups = 1;
  semantics::Window window;  // axes d, h, w
  bool plain_input = false;

  // REQUIRES: Check.
  static Conv3dShape Of(const Workload& workload);
  int64_t k(size_t i) const { return window.kernel[i]; }
  int64_t s(size_t i) const { return window.stride[i]; }
  int64_t d(size_t i) const { return window.dilation[i]; }
  int64_t in(size_t i) const { return window.in[i]; }
  int64_t out(size_t i) const { return window.out[i]; }
  int64_t reach(size_t i) const { return window.reach(i); }
  int64_t taps() const { return k(0) * k(1) * k(2); }
  // Does any window reach outside the input?
  bool NeedsPad() const;
};

}  // namespace hone::op
