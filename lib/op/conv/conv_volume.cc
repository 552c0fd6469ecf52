#include "op/conv/conv_volume.h"

#include "semantics/window.h"

namespace hone::op {

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
  return te::Compute("out", ends.out_shape, {"n", "oco", "od", "oh", "ow", "oci"}, [&](const Vars& x) {
    return BlockedEpilogue(workload, ends.epilogue, sum(x), x, volume.s.o, lanes);
  });
}

}  // namespace hone::op
