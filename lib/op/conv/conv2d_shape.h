// The numbers of a convolution, from its workload; for a three-dimensional one, those of its last two axes. O = output
// channels, CG = input channels of one group.
#pragma once

#include <cstdint>

#include "semantics/window.h"
#include "task/workload.h"

namespace hone::op {

struct Conv2dShape {
  int64_t n = 1, c = 1, h = 1, w = 1;      // input
  int64_t o = 1, cg = 1, kh = 1, kw = 1;   // weight [o, cg, kh, kw]
  int64_t sh = 1, sw = 1, dh = 1, dw = 1;  // stride, dilation
  int64_t pt = 0, pl = 0, pb = 0, pr = 0;  // padding: top, left, bottom, right
  int64_t groups = 1;
  int64_t oh = 1, ow = 1;    // output
  bool plain_input = false;  // in=nchw, in=ncdhw

  // REQUIRES: semantics::InferOutput accepts the workload, a conv2d or conv3d.
  static Conv2dShape Of(const Workload& workload) { return Of(workload, *semantics::WindowOf(workload)); }
  static Conv2dShape Of(const Workload& workload, const semantics::Window& window);  // with this window

  bool padded() const { return pt > 0 || pl > 0 || pb > 0 || pr > 0; }
  bool depthwise() const { return groups > 1 && cg == 1 && o == groups; }
  // Extents of the input with its padding that windows reach.
  int64_t ph() const { return (oh - 1) * sh + (kh - 1) * dh + 1; }
  int64_t pw() const { return (ow - 1) * sw + (kw - 1) * dw + 1; }
};

}  // namespace hone::op
