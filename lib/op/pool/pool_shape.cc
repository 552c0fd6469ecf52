#include "op/pool/pool_shape.h"

#include "semantics/window.h"

namespace hone::op {

PoolShape PoolShape::Of(const Workload& workload) {
  PoolShape s;
  const std::vector<int64_t>& data = workload.inputs[0].shape;
  const semantics::Window window = *semantics::WindowOf(workload, semantics::Expanded(workload, "kernel", 2, 1));
  s.n = data[0], s.c = data[1], s.h = data[2], s.w = data[3];
  s.kh = window.kernel[0], s.kw = window.kernel[1];
  s.sh = window.stride[0], s.sw = window.stride[1];
  s.dh = window.dilation[0], s.dw = window.dilation[1];
  s.pt = window.before[0], s.pl = window.before[1], s.pb = window.after[0], s.pr = window.after[1];
  s.oh = window.out[0], s.ow = window.out[1];
  s.include_pad = semantics::Whole(workload, "count_include_pad", 0) != 0;
  s.padding_alone = window.MaySeePaddingAlone();
  return s;
}

}  // namespace hone::op
