#include "op/conv/conv2d_shape.h"

#include "op/shapes.h"

namespace hone::op {
namespace {

int64_t OutputExtent(int64_t in, int64_t before, int64_t after, int64_t kernel, int64_t stride, int64_t dilation) {
  int64_t room = in + before + after - ((kernel - 1) * dilation + 1);
  return room < 0 ? 0 : room / stride + 1;
}

}  // namespace

Conv2dShape Conv2dShape::Of(const Workload& workload) {
  Conv2dShape s;
  const std::vector<int64_t>& data = workload.inputs[0].shape;
  const std::vector<int64_t>& weight = workload.inputs[1].shape;
  s.n = data[0], s.c = data[1], s.h = data[2], s.w = data[3];
  s.o = weight[0], s.cg = weight[1], s.kh = weight[2], s.kw = weight[3];
  std::vector<int64_t> stride = ExpandedNumbers(workload, "stride", 2, 1);
  std::vector<int64_t> dilation = ExpandedNumbers(workload, "dilation", 2, 1);
  std::vector<int64_t> pad = ExpandedNumbers(workload, "pad", 4, 0);
  s.sh = stride[0], s.sw = stride[1];
  s.dh = dilation[0], s.dw = dilation[1];
  s.pt = pad[0], s.pl = pad[1], s.pb = pad[2], s.pr = pad[3];
  s.groups = ExpandedNumbers(workload, "groups", 1, 1)[0];
  const Attribute* in = workload.Find("in");
  s.plain_input = in && in->word == "nchw";
  s.oh = OutputExtent(s.h, s.pt, s.pb, s.kh, s.sh, s.dh);
  s.ow = OutputExtent(s.w, s.pl, s.pr, s.kw, s.sw, s.dw);
  return s;
}

}  // namespace hone::op
