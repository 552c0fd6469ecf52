#include "op/conv/conv2d_reference.h"

#include <algorithm>

#include "base/interrupt.h"
#include "op/conv/conv2d_shape.h"
#include "op/epilogue.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

// One tap over one plane: out[y][x] += weight * in[y*sh + fy][x*sw + fx] wherever that lies inside the input. The
// bounds are computed once, so that the inner loop is free of conditions: a reference has to be affordable for every
// task.
void AddTap(const Conv2dShape& s, const double* in, double weight, int64_t ky, int64_t kx, double* out) {
  int64_t fy = ky * s.dh - s.pt, fx = kx * s.dw - s.pl;
  auto first = [](int64_t offset, int64_t stride) { return offset >= 0 ? 0 : CeilDiv(-offset, stride); };
  auto count = [](int64_t offset, int64_t stride, int64_t in_extent, int64_t out_extent) {
    int64_t room = in_extent - offset;  // outputs below ceil(room / stride) read inside
    return room <= 0 ? 0 : std::min(out_extent, CeilDiv(room, stride));
  };
  int64_t y0 = first(fy, s.sh), y1 = count(fy, s.sh, s.h, s.oh);
  int64_t x0 = first(fx, s.sw), x1 = count(fx, s.sw, s.w, s.ow);
  for (int64_t y = y0; y < y1; ++y) {
    const double* row = in + (y * s.sh + fy) * s.w + fx;
    double* to = out + y * s.ow;
    if (s.sw == 1) {
      for (int64_t x = x0; x < x1; ++x) to[x] += weight * row[x];
    } else {
      for (int64_t x = x0; x < x1; ++x) to[x] += weight * row[x * s.sw];
    }
  }
}

}  // namespace

void Conv2dReference(const Workload& workload, const std::vector<Operand>& operands,
                     const std::vector<float*>& buffers) {
  Conv2dShape s = Conv2dShape::Of(workload);
  std::vector<double> data = ReadPlain(operands[0], buffers[0]);
  const float* weight = buffers[1];
  std::vector<double> out(operands.back().logical.Elements(), 0.0);
  int64_t og = s.o / s.groups;
  for (int64_t n = 0; n < s.n; ++n) {
    for (int64_t o = 0; o < s.o; ++o) {
      if (Interrupted()) return;
      double* plane = out.data() + (n * s.o + o) * s.oh * s.ow;
      for (int64_t c = 0; c < s.cg; ++c) {
        const double* in = data.data() + (n * s.c + o / og * s.cg + c) * s.h * s.w;
        for (int64_t ky = 0; ky < s.kh; ++ky) {
          for (int64_t kx = 0; kx < s.kw; ++kx) {
            AddTap(s, in, weight[((o * s.cg + c) * s.kh + ky) * s.kw + kx], ky, kx, plane);
          }
        }
      }
    }
  }
  ReferenceEpilogue(workload, {operands.begin() + 2, operands.end() - 1}, {buffers.begin() + 2, buffers.end() - 1},
                    operands.back().logical, &out);
  WritePlain(operands.back(), out, buffers.back());
}

}  // namespace hone::op
