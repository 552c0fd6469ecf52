#include "op/conv/conv_grouped.h"

#include <algorithm>

#include "op/conv/conv2d_te.h"
#include "op/conv/conv_volume.h"
#include "op/defined_operator.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

int64_t LargestDivisor(int64_t extent, int64_t most) {
  int64_t d = std::min(extent, most);
  while (extent % d != 0) --d;
  return d;
}

// [n, c, id, ih, phase, column]: column * stride + phase is the column of the padded input, so that a row's taps are
// vectors.
Tensor PlainPad(const ConvVolume& v, const Tensor& data, int64_t lanes) {
  const Conv2dShape& s = v.s;
  const int64_t columns = CeilDiv(s.pw(), s.sw);
  const std::vector<int64_t> in = {v.depth.in, s.h, s.w}, before = {v.depth.before, s.pt, s.pl};
  const std::vector<int64_t> reach = {v.depth.reach(v.depth.out), s.ph(), columns * s.sw};
  return te::Compute("pad", {s.n, s.c, reach[0], reach[1], s.sw, columns}, {"n", "c", "id", "ih", "phase", "iw"},
                     [&](const std::vector<Var>& x) {
                       const std::vector<Expr> at = {x[2], x[3], x[5] * s.sw + x[4]};
                       Expr inside;
                       std::vector<Expr> read = {x[0], s.plain_input ? Expr(x[1]) : x[1] / lanes};
                       for (size_t i = 0; i < 3; ++i) {
                         if (before[i] > 0) inside = BothOf(inside, at[i] >= before[i]);
                         if (reach[i] > in[i] + before[i]) inside = BothOf(inside, at[i] < in[i] + before[i]);
                         read.push_back(at[i] - before[i]);
                       }
                       if (!s.plain_input) read.push_back(x[1] % lanes);
                       return inside.defined() ? te::IfThenElse(inside, data(read), ir::Imm(DType::Float(32), 0))
                                               : data(read);
                     });
}

Result<FixedKernel> BuildGrouped(const Workload& workload, const Target& target) {
  const ConvVolume v = ConvVolume::Of(workload);
  const Conv2dShape& s = v.s;
  const int lanes = target.ChannelBlock();
  const int64_t og = s.o / s.groups;
  const ConvEnds ends = MakeConvEnds(workload, v, CeilDiv(s.c, lanes), s.cg, lanes);
  const Tensor pad = PlainPad(v, ends.data, lanes);
  ir::IterVar c = te::ReduceAxis(s.cg, "c"), kd = te::ReduceAxis(v.depth.taps, "kd");
  ir::IterVar kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(s.kw, "kw");
  const std::vector<int64_t> plain = {s.n, s.groups, og, v.depth.out, s.oh, s.ow};
  const std::vector<std::string> axes = {"n", "g", "o", "od", "oh", "ow"};
  const Tensor acc = te::Compute("acc", plain, axes, [&](const std::vector<Var>& x) {
    const Expr tap = kw.var * s.dw;
    const Expr value = pad(x[0], x[1] * s.cg + c.var, x[3] * v.depth.stride + kd.var * v.depth.dilation,
                           x[4] * s.sh + kh.var * s.dh, tap % s.sw, x[5] + tap / s.sw);
    return te::Sum(value * ends.weight(x[1] * og + x[2], c.var, kd.var, kh.var, kw.var), {c, kd, kh, kw});
  });
  const Tensor sum = te::Compute("sum", plain, axes, [&](const std::vector<Var>& x) {
    return acc({x.begin(), x.end()});
  });
  const Tensor out = MakeConvOut(
      workload, v, ends,
      [&](const std::vector<Var>& x) {
        const Expr o = x[1] * lanes + x[5], real = s.o % lanes == 0 ? o : ir::Min(o, s.o - 1);
        const Expr value = sum(x[0], real / og, real % og, x[2], x[3], x[4]);
        return s.o % lanes == 0 ? value : ir::MakeSelect(o < s.o, value, ir::Imm(DType::Float(32), 0));
      },
      lanes);
  // Enough accumulators that an addition never waits for the previous one, but few enough for 16 registers.
  const int64_t channels = LargestDivisor(og, 8), rows = LargestDivisor(s.oh, 8 / channels);
  return FixedKernel{ends.MakeComputation(out),
                     {
                         Fuse("pad", {"n", "c"}, "task"),
                         Parallel("pad", "task"),
                         Split("sum", "o", {channels}, {"o.o", "o.i"}),
                         Split("sum", "oh", {rows}, {"oh.o", "oh.i"}),
                         Split("sum", "ow", {lanes}, {"ow.o", "ow.i"}),
                         Reorder("sum", {"n", "g", "o.o", "od", "oh.o", "ow.o", "oh.i", "o.i", "ow.i"}),
                         Fuse("sum", {"n", "g", "o.o"}, "task"),
                         Parallel("sum", "task"),
                         Unroll("sum", "oh.i"),
                         Unroll("sum", "o.i"),
                         Vectorize("sum", "ow.i"),
                         ComputeAt("acc", "sum", "ow.o"),
                         SetScope("acc", "register"),
                         Reorder("acc", {"n", "g", "od", "c", "kd", "kh", "kw", "oh", "o", "ow"}),
                         Unroll("acc", "oh"),
                         Unroll("acc", "o"),
                         Vectorize("acc", "ow"),
                         Fuse("out", {"n", "oco"}, "task"),
                         Parallel("out", "task"),
                         Vectorize("out", "oci"),
                     }};
}

}  // namespace

Result<Computation> ComputeGrouped(const Workload& workload, const Target& target, const Algorithm&) {
  HONE_ASSIGN_OR_RETURN(FixedKernel kernel, BuildGrouped(workload, target));
  return static_cast<Computation&&>(kernel);
}

const Template& Conv2dGrouped() {
  static const FixedTemplate t("conv2d_grouped_generic", 2, BuildGrouped, "grouped");
  return t;
}

const Template& Conv3dGrouped() {
  static const FixedTemplate t("conv3d_grouped_generic", 2, BuildGrouped, "grouped");
  return t;
}

}  // namespace hone::op
