// The algorithm "lanes": convolutions in which an output's lane needs few lanes of one block of the input, which are
// depthwise ones and those of 2, 4, .. channels in and out of each group. Its schedules are sketches (the rule
// `windows`), of the form without a padded copy. Bytes are summed up less their zero point, so that padding is 0.
#include <algorithm>
#include <utility>

#include "op/conv/conv2d_te.h"
#include "op/conv/conv_direct.h"
#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/product.h"
#include "op/shapes.h"

namespace hone::op {

Result<Computation> ComputeLanes(const Workload& workload, const Target& target, const Algorithm& algorithm) {
  const Conv2dShape s = Conv2dShape::Of(workload);
  const int lanes = target.ChannelBlock();
  const int64_t blocks = CeilDiv(s.c, lanes);
  const bool pad = s.pt > 0 || s.pl > 0 || s.ph() > s.h || s.pw() > s.w;
  const bool depthwise = s.depthwise() && !s.plain_input, grouped = s.cg > 1;
  const int64_t copy = algorithm.Number("pad", 0);
  if ((!depthwise && !GroupedLanesApplies(s, lanes)) || copy < 0 || copy > (pad ? 1 : 0)) {
    return NotComputedBy(algorithm, workload);
  }
  const ProductOperands operands(workload, {s.n, blocks, s.h, s.w, lanes}, workload.inputs[1].shape);
  const Tensor& data = operands.data();
  const Tensor weight = WholeBlocks(operands.weight(), blocks * lanes, s.cg);
  std::vector<int64_t> shape = {s.n, blocks, s.oh, s.ow, lanes};
  EpilogueTensors epilogue = MakeEpilogueTensors(workload, shape, s.o, lanes);
  Tensor source = copy == 1 ? MakePad(data, {s.pt, s.pl}, {s.ph(), s.pw()}, operands.Padding()) : data;
  ir::IterVar kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(s.kw, "kw"), ic = te::ReduceAxis(s.cg, "ic");
  std::vector<std::string> axes = {"n", "co", "oh", "ow", "ci"};
  Tensor acc = te::Compute("acc", shape, axes, [&](const Vars& x) {
    Expr y = x[2] * s.sh + kh.var * s.dh, column = x[3] * s.sw + kw.var * s.dw;
    Expr inside;
    if (pad && copy == 0) {
      y = y - s.pt, column = column - s.pl;
      inside =
          BothOf(WithinExtent(y, -s.pt, s.ph() - 1 - s.pt, s.h), WithinExtent(column, -s.pl, s.pw() - 1 - s.pl, s.w));
    }
    const Expr lane = grouped ? x[4] / s.cg * s.cg + ic.var : Expr(x[4]), channel = grouped ? Expr(ic.var) : Expr(0);
    const Expr value = operands.LessZero(source(x[0], x[1], y, column, lane));
    const Expr product = operands.Times(value, weight(x[1] * lanes + x[4], channel, kh.var, kw.var));
    return te::Sum(ZeroOutside(inside, product),
                   grouped ? std::vector<ir::IterVar>{kh, ic, kw} : std::vector<ir::IterVar>{kh, kw});
  });
  Tensor out = te::Compute("out", shape, axes, [&](const Vars& x) {
    return BlockedEpilogue(workload, epilogue, acc(std::vector<Expr>(x.begin(), x.end())), x, s.o, lanes);
  });
  return Computation{epilogue.After(operands.inputs()), {out}};
}

bool GroupedLanesApplies(const Conv2dShape& s, int64_t lanes) {
  const int64_t og = s.o / s.groups;
  return s.groups > 1 && !s.plain_input && s.cg > 1 && s.cg == og && lanes % s.cg == 0 && s.cg < lanes;
}

}  // namespace hone::op
