#include "op/conv/conv_volume.h"

#include <algorithm>
#include <string>

#include "op/conv/conv2d_te.h"
#include "semantics/window.h"

namespace hone::op {

using ir::Expr;
using ir::Var;
using te::Tensor;

ConvVolume ConvVolume::Of(const Workload& workload) {
  ConvVolume v;
  const semantics::Window window = *semantics::WindowOf(workload);
  v.s = Conv2dShape::Of(workload, window);
  if (window.rank() == 3) {
    v.depth = {window.in[0], window.kernel[0], window.stride[0], window.dilation[0], window.before[0], window.out[0]};
  }
  return v;
}

bool ConvVolume::NeedsPad() const {
  return s.pt > 0 || s.pl > 0 || s.ph() > s.h || s.pw() > s.w || depth.before > 0 || depth.reach(depth.out) > depth.in;
}

Tensor MakePad(const ConvVolume& volume, const Tensor& data) {
  const Conv2dShape& s = volume.s;
  const DepthAxis& z = volume.depth;
  const std::vector<int64_t> in = {z.in, s.h, s.w}, before = {z.before, s.pt, s.pl};
  const std::vector<int64_t> reach = {z.reach(z.out), s.ph(), s.pw()};
  std::vector<int64_t> shape = data.shape();
  std::copy(reach.begin(), reach.end(), shape.begin() + 2);
  std::vector<std::string> axes = {"n", shape.size() == 5 ? "c" : "co", "id", "ih", "iw"};
  if (shape.size() == 6) axes.push_back("ci");
  return te::Compute("pad", shape, axes, [&](const std::vector<Var>& x) {
    Expr inside;
    std::vector<Expr> at(x.begin(), x.end());
    for (size_t i = 0; i < 3; ++i) {
      const Expr position = x[2 + i];
      if (before[i] > 0) inside = BothOf(inside, position >= before[i]);
      if (reach[i] > in[i] + before[i]) inside = BothOf(inside, position < in[i] + before[i]);
      at[2 + i] = position - before[i];
    }
    const Expr read = data(at);
    return inside.defined() ? te::IfThenElse(inside, read, ir::Imm(data.type(), 0)) : read;
  });
}

ConvEnds MakeConvEnds(const Workload& workload, const ConvVolume& volume, int64_t in_blocks, int64_t raw_cg,
                      int lanes) {
  const Conv2dShape& s = volume.s;
  const DepthAxis& z = volume.depth;
  ConvEnds ends;
  std::vector<int64_t> data = {s.n, in_blocks, z.in, s.h, s.w, lanes};
  if (s.plain_input) data = {s.n, s.c, z.in, s.h, s.w};
  ends.data = te::Placeholder("data", data);
  ends.weight = te::Placeholder("weight", {s.o, raw_cg, z.taps, s.kh, s.kw});
  ends.out_shape = {s.n, (s.o + lanes - 1) / lanes, z.out, s.oh, s.ow, lanes};
  ends.epilogue = MakeEpilogueTensors(workload, ends.out_shape, s.o, lanes);
  return ends;
}

Tensor MakeConvOut(const Workload& workload, const ConvVolume& volume, const ConvEnds& ends,
                   const std::function<Expr(const std::vector<Var>&)>& sum, int lanes) {
  return te::Compute("out", ends.out_shape, {"n", "oco", "od", "oh", "ow", "oci"}, [&](const std::vector<Var>& x) {
    return BlockedEpilogue(workload, ends.epilogue, sum(x), x, volume.s.o, lanes);
  });
}

}  // namespace hone::op
