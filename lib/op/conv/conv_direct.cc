#include "op/conv/conv_direct.h"

#include <fmt/format.h>

#include <algorithm>

#include "op/conv/conv2d_te.h"
#include "op/conv/conv_volume.h"
#include "op/defined_operator.h"
#include "op/shapes.h"
#include "op/steps.h"
#include "semantics/window.h"

namespace hone::op {
namespace {

// The layer as blocks of channels, and a 1x1 convolution as rows of pixels.
struct DirectLayer : ConvVolume {
  int64_t lanes = 16;
  int64_t ic_blocks = 1;        // blocks of input channels of one group; 1 for a plain input
  int64_t ic_lanes = 16;        // channels of such a block: lanes, or all channels of a plain input
  int64_t oc_blocks = 1;        // blocks of output channels of all groups
  int64_t group_oc_blocks = 1;  // per group
  bool pad = false;             // whether any window reaches outside the input
  // Number of original groups per merged group, with zeros in the weights between them; s.cg and s.groups are for
  // merged groups.
  int64_t merged = 1, raw_cg = 1, raw_og = 1;

  // How many groups to merge, so that groups are whole blocks of channels or there is one group; 0 if too many
  // multiplications by zero would result.
  static int64_t MergedGroups(const Conv2dShape& shape, int64_t lanes);
  static DirectLayer Of(const Workload& workload, const Target& target);
  bool pads_columns() const { return s.pl > 0 || s.pw() > s.w; }
};

const std::vector<std::string> kOutAxes = {"n", "oco", "od", "oh", "ow", "oci"};

// The pixels of a 1x1 convolution may be divided into rows freely: the longest row that leaves each thread at least two
// rows, if any row of at least 12 pixels does; else one row of all pixels.
int64_t FlatRow(int64_t pixels, int threads) {
  for (int64_t row = pixels / (int64_t{2} * threads); row >= 12; --row) {
    if (pixels % row == 0) return row;
  }
  return pixels;
}

int64_t DirectLayer::MergedGroups(const Conv2dShape& s, int64_t lanes) {
  constexpr int64_t kMost = 16;  // about the speed factor between plain loops and a register tile
  const int64_t og = s.o / s.groups;
  for (int64_t m = 1; m <= std::min(s.groups, kMost) && !s.plain_input; ++m) {
    if (s.groups % m == 0 && m * s.cg % lanes == 0 && m * og % lanes == 0) return m;
  }
  return s.groups <= kMost ? s.groups : 0;
}

DirectLayer DirectLayer::Of(const Workload& workload, const Target& target) {
  DirectLayer l;
  static_cast<ConvVolume&>(l) = ConvVolume::Of(workload);
  l.lanes = target.ChannelBlock();
  const int threads = std::max(target.threads, 1);
  Conv2dShape& s = l.s;
  l.pad = l.NeedsPad();
  l.raw_cg = s.cg, l.raw_og = s.o / s.groups;
  l.merged = std::max<int64_t>(MergedGroups(s, l.lanes), 1);
  s.cg *= l.merged, s.groups /= l.merged;
  const int64_t pixels = l.depth.in * s.h * s.w;
  const bool whole = l.depth.in == l.depth.out && s.h == s.oh && s.w == s.ow;
  if (l.taps() == 1 && s.sh == 1 && s.sw == 1 && whole && !l.pad && pixels > s.w) {
    s.ow = FlatRow(pixels, s.n >= threads ? 1 : threads);
    s.oh = pixels / s.ow;
    s.h = s.oh, s.w = s.ow;
    l.depth = {};
  }
  l.ic_blocks = s.plain_input ? 1 : CeilDiv(s.cg, l.lanes);
  l.ic_lanes = s.plain_input ? s.cg : l.lanes;
  l.oc_blocks = CeilDiv(s.o, l.lanes);
  l.group_oc_blocks = s.groups == 1 ? l.oc_blocks : l.oc_blocks / s.groups;
  return l;
}

// The share of (output, tap) pairs of an axis that lie inside the input, and of all axes but the last together.
struct Inside {
  double rows = 1, columns = 1;

  explicit Inside(const Workload& workload) {
    const semantics::Window window = *semantics::WindowOf(workload);
    for (size_t axis = 0; axis < window.rank(); ++axis) {
      int64_t inside = 0;
      for (int64_t tap = 0; tap < window.kernel[axis]; ++tap) {
        const semantics::Window::Range outputs = window.InsideOf(axis, tap);
        inside += outputs.end - outputs.begin;
      }
      const double all = static_cast<double>(window.kernel[axis] * window.out[axis]);
      (axis + 1 < window.rank() ? rows : columns) *= static_cast<double>(inside) / all;
    }
  }
};

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

std::vector<OtherAlgorithm> SkipAlgorithms(const Workload& workload, const Target& target) {
  const DirectLayer l = DirectLayer::Of(workload, target);
  const Inside inside(workload);
  // Columns in padding are known only in a tile of the whole row.
  const bool columns = !l.pads_columns() || l.s.ow + 2 <= target.vector_registers;
  if (!l.pad || inside.rows * (columns ? inside.columns : 1) > 0.75) return {};
  return {{"skip", {"skip", {{"columns", columns ? 1 : 0}}}}};
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
  if (skip) {
    const Inside inside(workload);
    computation.arithmetic = inside.rows * (pad ? 1 : inside.columns);
  }
  return computation;
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
