#include "op/conv/conv_direct.h"

#include <fmt/format.h>

#include <algorithm>

#include "op/conv/conv2d_te.h"
#include "op/conv/conv_direct_space.h"
#include "op/conv/conv_volume.h"
#include "op/defined_operator.h"
#include "op/estimate/parts.h"
#include "op/layer_template.h"
#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {
namespace {

const std::vector<std::string> kOutAxes = {"n", "oco", "od", "oh", "ow", "oci"};

std::string BlockedWeightName(const DirectLayer& l) {
  if (l.merged > 1) return "weight.blocked";
  return WholeBlocksName("weight", l.s.o, l.raw_cg, l.oc_blocks * l.lanes, l.ic_blocks * l.ic_lanes);
}
// The weight in whole blocks of channels, with zeros for missing channels and between merged groups: [output
// channel][input channel of a merged group][kd][kh][kw].
Tensor BlockedWeight(const DirectLayer& l, const Tensor& raw) {
  const int64_t out = l.oc_blocks * l.lanes, in = l.ic_blocks * l.ic_lanes;
  if (l.merged == 1) return WholeBlocks(raw, out, in);
  const std::vector<int64_t> shape = {out, in, l.depth.taps, l.s.kh, l.s.kw};
  return te::ComputeConstant(BlockedWeightName(l), shape, {"o", "c", "kd", "kh", "kw"}, [&](const Vars& x) {
    const Expr tap =
        te::ReadOrZero(raw, {x[0], x[1] % l.raw_cg, x[2], x[3], x[4]}, {out, l.raw_cg, l.depth.taps, l.s.kh, l.s.kw});
    return ir::MakeSelect(ir::Eq(x[1] / l.raw_cg, x[0] / l.raw_og % l.merged), tap, ir::Imm(DType::Float(32), 0));
  });
}

// [tile of output channels][block of ic_block][kd][kh][kw][block][channel][ocv * lanes], or with kw after the channel
// if that is unrolled there: a tile reads it in order.
Step StoreWeight(const DirectLayer& l, const DirectPoint& p, const std::string& packed) {
  const int64_t width = p.ocv * l.lanes, channels = p.ic_block * l.ic_lanes;
  std::vector<std::string> parts = {fmt::format("d0/{}", width),
                                    fmt::format("d1/{}", channels),
                                    "d2",
                                    "d3",
                                    "d4",
                                    fmt::format("d1/{}%{}", l.ic_lanes, p.ic_block),
                                    fmt::format("d1%{}", l.ic_lanes),
                                    fmt::format("d0%{}", width)};
  if (p.unroll_kw) std::rotate(parts.begin() + 4, parts.begin() + 5, parts.begin() + 7);
  return Relayout(BlockedWeightName(l), parts, packed);
}

// A last block with unused lanes is reduced over its real channels: one axis for all channels, split in steps.
bool ShortBlock(const DirectLayer& l) { return !l.s.plain_input && l.s.groups == 1 && l.s.c % l.lanes != 0; }

// The extents of the padded input.
std::vector<int64_t> Reach(const DirectLayer& l) { return {l.depth.reach(l.depth.out), l.s.ph(), l.s.pw()}; }

// `before`: by how much the first window begins before `source`, for each axis. Taps outside of it do not count.
Tensor Accumulate(const DirectLayer& l, const Tensor& source, const std::vector<int64_t>& before, const Tensor& weight,
                  const std::vector<int64_t>& out_shape) {
  const Conv2dShape& s = l.s;
  ir::IterVar ib = te::ReduceAxis(l.ic_blocks, "ib"), ici = te::ReduceAxis(l.ic_lanes, "ici");
  ir::IterVar kd = te::ReduceAxis(l.depth.taps, "kd"), c = te::ReduceAxis(s.c, "c");
  ir::IterVar kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(s.kw, "kw");
  std::vector<ir::IterVar> axes = {ib, kd, kh, kw, ici};
  if (ShortBlock(l)) axes = {kd, kh, kw, c};
  return te::Compute("acc", out_shape, kOutAxes, [&](const Vars& x) {
    Expr z = x[2] * l.depth.stride + kd.var * l.depth.dilation;
    Expr y = x[3] * s.sh + kh.var * s.dh, column = x[4] * s.sw + kw.var * s.dw;
    const std::vector<int64_t> reach = Reach(l), in(source.shape().begin() + 2, source.shape().end());
    Expr inside;
    size_t i = 0;
    for (Expr* at : {&z, &y, &column}) {
      if (before[i] > 0) *at = *at - before[i];
      inside = WithinExtent(*at, -before[i], reach[i] - 1 - before[i], in[i], inside);
      ++i;
    }
    Expr block = ib.var, lane = ici.var, channel = block * l.ic_lanes + lane;
    if (ShortBlock(l)) block = c.var / l.lanes, lane = c.var % l.lanes, channel = c.var;
    const Expr taps = weight(x[1] * l.lanes + x[5], channel, kd.var, kh.var, kw.var);
    if (s.groups > 1) block = x[1] / l.group_oc_blocks * l.ic_blocks + block;
    Expr value = s.plain_input ? source(x[0], lane, z, y, column) : source(x[0], block, z, y, column, lane);
    return te::Sum(ZeroOutside(inside, value * taps), axes);
  });
}

std::vector<Step> DirectSteps(const DirectLayer& l, const DirectPoint& p, const Workload& workload) {
  const std::string packed = "weight.packed";
  std::vector<Step> steps = {
      StoreWeight(l, p, packed),
      Split("out", "n", {p.Images(l)}, {"n.b", "n.i"}),
      Split("out", "od", {p.Depths(l)}, {"od.b", "od.i"}),
      Split("out", "oh", {p.row_block}, {"oh.b", "oh.r"}),
      Split("out", "oh.r", {p.tile_oh}, {"oh.o", "oh.i"}),
      Split("out", "oco", {p.oc_block}, {"oco.b", "oco.r"}),
      Split("out", "oco.r", {p.ocv}, {"oco.o", "oco.i"}),
      Split("out", "ow", {p.tile_ow}, {"ow.o", "ow.i"}),
  };
  std::vector<std::string> order = {"n.b",  "od.b", "oh.b", "oco.b", "oco.o", "n.i", "od.i",
                                    "oh.o", "ow.o", "oh.i", "ow.i",  "oco.i", "oci"};
  if (p.rows_outer) std::rotate(order.begin() + 4, order.begin() + 5, order.begin() + 8);
  Append(&steps, {Reorder("out", order), Fuse("out", {"n.b", "od.b", "oh.b", "oco.b"}, "task"), Parallel("out", "task"),
                  Vectorize("out", "oci"), Unroll("out", "oh.i"), Unroll("out", "ow.i"), Unroll("out", "oco.i"),
                  ComputeAt("acc", "out", "ow.o"), SetScope("acc", "register")});
  std::vector<std::string> reduce = {"n",     "od",    "io", "kd", "kh",  "kw", "ii",
                                     "ici.o", "ici.i", "oh", "ow", "oco", "oci"};
  if (p.unroll_kw) std::rotate(reduce.begin() + 5, reduce.begin() + 6, reduce.begin() + 9);
  if (ShortBlock(l)) {
    const char* blocks = p.ic_block == 1 ? "io" : "ii";
    steps.push_back(Split("acc", "c", {l.lanes / p.unroll_ic, p.unroll_ic}, {blocks, "ici.o", "ici.i"}));
    std::erase(reduce, p.ic_block == 1 ? "ii" : "io");
  } else {
    Append(&steps,
           {Split("acc", "ib", {p.ic_block}, {"io", "ii"}), Split("acc", "ici", {p.unroll_ic}, {"ici.o", "ici.i"})});
  }
  Append(&steps, {Reorder("acc", reduce), Vectorize("acc", "oci")});
  AppendUnrolls(&steps, "acc", {"ici.i", "oh", "ow", "oco"});
  if (p.unroll_kw) steps.push_back(Unroll("acc", "kw"));
  if (p.prefetch > 0) steps.push_back(Prefetch("acc", packed, "ici.o", p.prefetch));
  if (p.prefetch_tile) {
    steps.push_back(Prefetch("out", packed, "oco.o", l.WeightBytes(p.ocv)));
    steps.back().values.push_back(2);
  }
  const bool skip = p.pad == "skip", copy = p.pad != "none" && !(skip && l.SkipsColumns(p.tile_ow));
  if (p.fetch == "tile") {
    const bool whole = copy && !skip;
    const int64_t depths = whole ? l.depth.reach(p.pad == "task" ? p.Depths(l) : l.depth.out) : l.depth.in;
    const int64_t plane = depths * (whole ? l.s.ph() : l.s.h) * (copy ? l.s.pw() : l.s.w);
    if (l.ic_blocks > 1) {
      steps.push_back(Prefetch("acc", copy ? "pad" : "data", "io", p.ic_block * plane * l.lanes * 4));
    }
    steps.push_back(Prefetch("out", "out", "ow.o", 0));
    for (const std::string& name : ResidualNames(workload)) steps.push_back(Prefetch("out", name, "ow.o", 0));
  }
  if (p.pad == "task") {
    steps.push_back(ComputeAt("pad", "out", "task"));
  } else if (copy) {
    Append(&steps, {Fuse("pad", {"n", l.s.plain_input ? "c" : "co", "id", "ih"}, "rows"), Parallel("pad", "rows")});
  }
  if (copy && l.s.plain_input) {
    Append(&steps, {Split("pad", "iw", {l.lanes}, {"iw.o", "iw.i"}), Vectorize("pad", "iw.i")});
  } else if (copy) {
    steps.push_back(Vectorize("pad", "ci"));
  }
  return steps;
}

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
                     [&](const Vars& x) {
                       const std::vector<Expr> at = {x[2], x[3], x[5] * s.sw + x[4]};
                       Expr inside;
                       std::vector<Expr> read = {x[0], s.plain_input ? Expr(x[1]) : x[1] / lanes};
                       for (size_t i = 0; i < 3; ++i) {
                         if (before[i] > 0) inside = BothOf(inside, at[i] >= before[i]);
                         if (reach[i] > in[i] + before[i]) inside = BothOf(inside, at[i] < in[i] + before[i]);
                         read.push_back(at[i] - before[i]);
                       }
                       if (!s.plain_input) read.push_back(x[1] % lanes);
                       return ZeroOutside(inside, data(read));
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
  const Tensor acc = te::Compute("acc", plain, axes, [&](const Vars& x) {
    const Expr tap = kw.var * s.dw;
    const Expr value = pad(x[0], x[1] * s.cg + c.var, x[3] * v.depth.stride + kd.var * v.depth.dilation,
                           x[4] * s.sh + kh.var * s.dh, tap % s.sw, x[5] + tap / s.sw);
    return te::Sum(value * ends.weight(x[1] * og + x[2], c.var, kd.var, kh.var, kw.var), {c, kd, kh, kw});
  });
  const Tensor sum = te::Compute("sum", plain, axes, [&](const Vars& x) { return acc({x.begin(), x.end()}); });
  const Tensor out = MakeConvOut(
      workload, v, ends,
      [&](const Vars& x) {
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

Candidate DirectLayer::Build(const Workload& workload, const Target&, const Config& config) const {
  const DirectPoint p = DirectPoint::Of(config);
  Algorithm algorithm;
  if (p.pad == "skip") algorithm = {"skip", {{"columns", SkipsColumns(p.tile_ow) ? 1 : 0}}};
  return {algorithm, DirectSteps(*this, p, workload)};
}

bool DirectApplies(const Conv2dShape& s, int64_t lanes) {
  return s.groups == 1 || DirectLayer::MergedGroups(s, lanes) > 0;
}

Result<Computation> ComputeDirect(const Workload& workload, const Target& target, const Algorithm& algorithm) {
  const int lanes = target.ChannelBlock();
  if (!DirectApplies(ConvVolume::Of(workload).s, lanes)) return NotComputedBy(algorithm, workload);
  const DirectLayer l = DirectLayer::Of(workload, target);
  const bool skip = algorithm.name == "skip";
  const int64_t columns = algorithm.Number("columns", 0);
  if (columns < 0 || columns > 1 || (skip && !l.pad)) return NotComputedBy(algorithm, workload);
  const ConvEnds ends = MakeConvEnds(workload, l, l.s.groups * l.ic_blocks, l.raw_cg, lanes);
  const Tensor weight = BlockedWeight(l, ends.weight);
  std::vector<int64_t> skipped = {0, 0, 0}, before = {l.depth.before, l.s.pt, l.s.pl}, reach = Reach(l);
  bool pad = l.pad;
  if (skip) {
    skipped = {before[0], before[1], columns * before[2]};
    before = {0, 0, before[2]}, reach = {l.depth.in, l.s.h, reach[2]};
    pad = columns == 0;
  }
  const Tensor source = pad ? MakePad(ends.data, before, reach) : ends.data;
  const Tensor acc = Accumulate(l, source, skipped, weight, ends.out_shape);
  Computation computation = ends.MakeComputation(
      MakeConvOut(workload, l, ends, [&](const Vars& x) { return acc(std::vector<Expr>(x.begin(), x.end())); }, lanes));
  if (skip) computation.arithmetic = l.inside_rows * (pad ? 1 : l.inside_columns);
  return computation;
}

const Template& Conv2dDirect() {
  static const LayerTemplate<DirectLayer> t("conv2d_direct", 4, &DirectEstimate());
  return t;
}

const Template& Conv3dDirect() {
  static const LayerTemplate<DirectLayer> t("conv3d_direct", 3, &DirectEstimate());
  return t;
}

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
