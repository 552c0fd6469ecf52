#include "op/conv/conv2d_shape.h"

#include "semantics/attributes.h"
#include "semantics/semantics.h"

namespace hone::op {

Conv2dShape Conv2dShape::Of(const Workload& workload, const semantics::Window& window) {
  Conv2dShape s;
  const std::vector<int64_t>& data = workload.inputs[0].shape;
  const std::vector<int64_t>& weight = workload.inputs[1].shape;
  const size_t y = window.rank() - 2, x = window.rank() - 1;
  s.n = data[0], s.c = data[1], s.o = weight[0], s.cg = weight[1];
  s.h = window.in[y], s.w = window.in[x];
  s.kh = window.kernel[y], s.kw = window.kernel[x];
  s.sh = window.stride[y], s.sw = window.stride[x];
  s.dh = window.dilation[y], s.dw = window.dilation[x];
  s.pt = window.before[y], s.pl = window.before[x], s.pb = window.after[y], s.pr = window.after[x];
  s.oh = window.out[y], s.ow = window.out[x];
  s.groups = semantics::Whole(workload, "groups", 1);
  s.plain_input = semantics::InputLayout(workload, 0) == Layout::kPlain;
  return s;
}

}  // namespace hone::op
