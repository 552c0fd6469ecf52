#include "op/pool_shape.h"

#include "op/shapes.h"

namespace hone::op {
namespace {

int64_t OutputExtent(int64_t in, int64_t before, int64_t after, int64_t kernel, int64_t stride, bool ceil_mode) {
  int64_t room = in + before + after - kernel;
  if (room < 0) return 0;
  int64_t out = (ceil_mode ? CeilDiv(room, stride) : room / stride) + 1;
  if (ceil_mode && (out - 1) * stride >= in + before) --out;
  return out;
}

}  // namespace

PoolShape PoolShape::Of(const Workload& workload) {
  PoolShape s;
  const std::vector<int64_t>& data = workload.inputs[0].shape;
  s.n = data[0], s.c = data[1], s.h = data[2], s.w = data[3];
  std::vector<int64_t> kernel = ExpandedNumbers(workload, "kernel", 2, 1);
  std::vector<int64_t> stride = ExpandedNumbers(workload, "stride", 2, 1);
  std::vector<int64_t> pad = ExpandedNumbers(workload, "pad", 4, 0);
  s.kh = kernel[0], s.kw = kernel[1], s.sh = stride[0], s.sw = stride[1];
  std::vector<int64_t> dilation = ExpandedNumbers(workload, "dilation", 2, 1);
  s.dh = dilation[0], s.dw = dilation[1];
  s.pt = pad[0], s.pl = pad[1], s.pb = pad[2], s.pr = pad[3];
  s.ceil_mode = ExpandedNumbers(workload, "ceil_mode", 1, 0)[0] != 0;
  s.include_pad = ExpandedNumbers(workload, "count_include_pad", 1, 0)[0] != 0;
  s.oh = OutputExtent(s.h, s.pt, s.pb, (s.kh - 1) * s.dh + 1, s.sh, s.ceil_mode);
  s.ow = OutputExtent(s.w, s.pl, s.pr, (s.kw - 1) * s.dw + 1, s.sw, s.ceil_mode);
  return s;
}

}  // namespace hone::op
