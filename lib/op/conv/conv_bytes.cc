#include "op/conv/conv_bytes.h"

#include "base/integers.h"
#include "op/conv/conv2d_te.h"
#include "op/conv/conv_volume.h"
#include "op/product.h"

namespace hone::op {
namespace {

const std::vector<std::string> kNames = {"n", "oco", "od", "oh", "ow", "oci"};

// The plain input [n, c, ..] as one block of `lanes` channels.
Tensor PlainPad(const ConvVolume& v, const Tensor& data, const Expr& outside, int64_t lanes) {
  const std::vector<int64_t> in = {v.depth.in, v.s.h, v.s.w}, before = {v.depth.before, v.s.pt, v.s.pl};
  const std::vector<int64_t> reach = {v.depth.reach(v.depth.out), v.s.ph(), v.s.pw()};
  return te::Compute("pad", {v.s.n, 1, reach[0], reach[1], reach[2], lanes}, {"n", "co", "id", "ih", "iw", "ci"},
                     [&](const Vars& x) {
                       Expr inside = lanes > v.s.c ? x[5] < v.s.c : Expr();
                       std::vector<Expr> at = {x[0], x[5]};
                       for (size_t i = 0; i < 3; ++i) {
                         at.push_back(x[2 + i] - before[i]);
                         inside = WithinExtent(at.back(), -before[i], reach[i] - 1 - before[i], in[i], inside);
                       }
                       return ZeroOutside(inside, data(at), outside);
                     });
}

// Whether four taps of a row rather than four channels are multiplied at once: fewer products.
bool TakesColumns(const Conv2dShape& s) {
  return s.plain_input && s.groups == 1 && s.dw == 1 && s.c * CeilDiv(s.kw, 4) <= CeilDiv(s.c, 4) * s.kw;
}

// The output and its epilogue from the sums of stored bytes.
Computation Finish(const Workload& w, ProductOperands* operands, const Tensor& acc, int64_t channels) {
  const std::vector<int64_t>& shape = acc.shape();
  const int64_t blocks = shape[1], lanes = shape.back();
  const EpilogueTensors epilogue = MakeEpilogueTensors(w, shape, channels, static_cast<int>(lanes));
  const Tensor out = te::Compute("out", shape, kNames, [&](const Vars& x) {
    const Expr sum = operands->LessZero(acc({x.begin(), x.end()}), x[1] * lanes + x[5], blocks * lanes);
    return BlockedEpilogue(w, epilogue, sum, x, channels, static_cast<int>(lanes));
  });
  return Computation{epilogue.After(operands->inputs()), {out}};
}

// A plain input, whose rows have the taps side by side. Those beyond the window have weights of 0.
Computation ComputeColumns(const Workload& w, const ConvVolume& v, int lanes) {
  const Conv2dShape& s = v.s;
  const int64_t fours = CeilDiv(s.kw, 4), blocks = CeilDiv(s.o, lanes);
  ProductOperands operands(w, {s.n, s.c, v.depth.in, s.h, s.w}, {s.o, s.c, v.depth.taps, s.kh, s.kw});
  const Tensor source = MakePad(operands.data(), {v.depth.before, s.pt, s.pl},
                                {v.depth.reach(v.depth.out), s.ph(), s.pw() + 4 * fours - s.kw}, operands.Padding());
  const std::vector<int64_t> stored = {blocks * lanes, s.c, v.depth.taps, s.kh, 4 * fours};
  const Tensor weight = te::ComputeConstant("weight.fours", stored, {"o", "c", "kd", "kh", "kw"}, [&](const Vars& x) {
    return te::ReadOrZero(operands.weight(), {x.begin(), x.end()}, stored);
  });
  const ir::IterVar ic = te::ReduceAxis(s.c, "ic"), kd = te::ReduceAxis(v.depth.taps, "kd"),
                    kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(fours, "kw"), tap = te::ReduceAxis(4, "kx");
  const std::vector<int64_t> shape = {s.n, blocks, v.depth.out, s.oh, s.ow, lanes};
  const Tensor acc = te::Compute("acc", shape, kNames, [&](const Vars& x) {
    const Expr column = kw.var * 4 + tap.var;
    const Expr value = source(x[0], ic.var, x[2] * v.depth.stride + kd.var * v.depth.dilation,
                              x[3] * s.sh + kh.var * s.dh, x[4] * s.sw + column);
    return te::Sum(operands.Times(value, weight(x[1] * lanes + x[5], ic.var, kd.var, kh.var, column)),
                   {ic, kd, kh, kw, tap});
  });
  return Finish(w, &operands, acc, s.o);
}

}  // namespace

Result<Computation> ComputeBytes(const Workload& w, const Target& target, const Algorithm&) {
  const ConvVolume v = ConvVolume::Of(w);
  const Conv2dShape& s = v.s;
  const int lanes = target.ChannelBlock();
  if (TakesColumns(s)) return ComputeColumns(w, v, lanes);
  const int64_t in_lanes = s.plain_input ? RoundUp(s.c, 4) : lanes;
  const int64_t in_blocks = s.plain_input ? 1 : CeilDiv(s.c, lanes), out_blocks = CeilDiv(s.o, lanes);
  std::vector<int64_t> data = {s.n, in_blocks, v.depth.in, s.h, s.w, lanes};
  if (s.plain_input) data = {s.n, s.c, v.depth.in, s.h, s.w};
  ProductOperands operands(w, data, {s.o, s.cg, v.depth.taps, s.kh, s.kw});
  Tensor source = operands.data();
  if (s.plain_input) {
    source = PlainPad(v, source, operands.Padding(), in_lanes);
  } else if (v.NeedsPad()) {
    source =
        MakePad(source, {v.depth.before, s.pt, s.pl}, {v.depth.reach(v.depth.out), s.ph(), s.pw()}, operands.Padding());
  }
  // The channels that a sum takes: those of a group, in whole blocks if groups are whole blocks.
  const int64_t group_out = s.o / s.groups;
  const bool whole = s.groups == 1 || (!s.plain_input && s.cg % in_lanes == 0 && group_out % lanes == 0);
  const int64_t summed_blocks = s.groups == 1 ? in_blocks : s.cg / in_lanes;
  const int64_t summed = whole ? summed_blocks * in_lanes : s.cg;
  const Tensor weight = WholeBlocks(operands.weight(), out_blocks * lanes, summed);
  std::vector<ir::IterVar> axes = {te::ReduceAxis(v.depth.taps, "kd"), te::ReduceAxis(s.kh, "kh"),
                                   te::ReduceAxis(s.kw, "kw")};
  const ir::IterVar blocks = te::ReduceAxis(summed_blocks, "ib");
  const ir::IterVar channels = te::ReduceAxis(whole ? in_lanes : s.cg, "ic");
  if (whole) axes.insert(axes.begin(), blocks);
  axes.push_back(channels);
  const std::vector<int64_t> shape = {s.n, out_blocks, v.depth.out, s.oh, s.ow, lanes};
  const Tensor acc = te::Compute("acc", shape, kNames, [&](const Vars& x) {
    const Expr out = x[1] * lanes + x[5];
    Expr block = blocks.var, lane = channels.var, in = block * in_lanes + lane;
    if (s.depthwise() && !s.plain_input) {
      block = x[1], lane = x[5], in = channels.var;
    } else if (whole && s.groups > 1) {
      block = x[1] / (group_out / lanes) * summed_blocks + block;
    } else if (s.groups > 1) {
      const Expr channel = ir::Min(out, Expr(s.o - 1)) / group_out * s.cg + channels.var;
      block = channel / in_lanes, lane = channel % in_lanes, in = channels.var;
    }
    const size_t first = whole ? 1 : 0;
    const auto tap = [&](size_t i) { return Expr(axes[first + i].var); };
    return te::Sum(operands.Times(source(x[0], block, x[2] * v.depth.stride + tap(0) * v.depth.dilation,
                                         x[3] * s.sh + tap(1) * s.dh, x[4] * s.sw + tap(2) * s.dw, lane),
                                  weight(out, in, tap(0), tap(1), tap(2))),
                   axes);
  });
  return Finish(w, &operands, acc, s.o);
}

}  // namespace hone::op
