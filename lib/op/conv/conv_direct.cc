#include "op/conv/conv_direct.h"

#include <algorithm>
#include <utility>

#include "op/conv/conv2d_te.h"
#include "op/conv/conv_direct_space.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

const std::vector<std::string> kOutAxes = {"n", "oco", "od", "oh", "ow", "oci"};

// [tile of output channels][block of ic_block][kd][kh][kw][ic block inside][channel][ocv * lanes], or with kw after the
// channel if that is unrolled there: a tile reads it in order.
Tensor PackWeight(const DirectLayer& l, const DirectPoint& p, const Tensor& raw) {
  const Conv2dShape& s = l.s;
  int64_t width = p.ocv * l.lanes, tiles = CeilDiv(l.oc_blocks, p.ocv);
  std::vector<int64_t> shape = {tiles, l.ic_blocks / p.ic_block, l.depth.taps, s.kh, s.kw, p.ic_block, l.ic_lanes,
                                width};
  std::vector<std::string> axes = {"t", "io", "kd", "kh", "kw", "ii", "ici", "v"};
  size_t ii = 5, ici = 6, kw = 4;
  if (p.unroll_kw) {
    ii = 4, ici = 5, kw = 6;
    std::rotate(shape.begin() + 4, shape.begin() + 5, shape.begin() + 7);
    std::rotate(axes.begin() + 4, axes.begin() + 5, axes.begin() + 7);
  }
  return te::ComputeConstant("weight.packed", shape, axes, [&](const std::vector<Var>& x) {
    Expr oc = x[0] * width + x[7];
    Expr ic = (x[1] * p.ic_block + x[ii]) * l.ic_lanes + x[ici];
    auto read = [&](const Expr& channel, int64_t channels) {
      return ReadOrZero(raw, {oc, channel, x[2], x[3], x[kw]}, {tiles * width, channels, l.depth.taps, s.kh, s.kw});
    };
    if (l.merged == 1) return read(ic, l.ic_blocks * l.ic_lanes);
    return ir::MakeSelect(ir::Eq(ic / l.raw_cg, oc / l.raw_og % l.merged), read(ic % l.raw_cg, l.raw_cg),
                          ir::Imm(DType::Float(32), 0));
  });
}

// A last block with unused lanes is reduced over its real channels: one axis for all of them, taken apart in steps.
bool ShortBlock(const DirectLayer& l) { return !l.s.plain_input && l.s.groups == 1 && l.s.c % l.lanes != 0; }

Tensor Accumulate(const DirectLayer& l, const DirectPoint& p, const Tensor& source, const Tensor& packed,
                  const std::vector<int64_t>& out_shape) {
  const Conv2dShape& s = l.s;
  const bool is_short = ShortBlock(l);
  ir::IterVar io = te::ReduceAxis(l.ic_blocks / p.ic_block, "io"), ii = te::ReduceAxis(p.ic_block, "ii");
  ir::IterVar kd = te::ReduceAxis(l.depth.taps, "kd");
  ir::IterVar kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(s.kw, "kw");
  ir::IterVar ici = te::ReduceAxis(l.ic_lanes, "ici"), c = te::ReduceAxis(s.c, "c");
  std::vector<ir::IterVar> axes = {io, kd, kh, kw, ii, ici};
  if (is_short) axes = {kd, kh, kw, c};
  return te::Compute("acc", out_shape, kOutAxes, [&](const std::vector<Var>& x) {
    Expr z = x[2] * l.depth.stride + kd.var * l.depth.dilation;
    Expr y = x[3] * s.sh + kh.var * s.dh, column = x[4] * s.sw + kw.var * s.dw;
    Expr outer = io.var, inner = ii.var, lane = ici.var, zero(0);
    Expr block = outer * p.ic_block + inner;
    if (is_short) {
      block = c.var / l.lanes, lane = c.var % l.lanes;
      outer = p.ic_block == 1 ? block : zero, inner = p.ic_block == 1 ? zero : block;
    }
    std::vector<Expr> at = {x[1] / p.ocv, outer, kd.var, kh.var, kw.var, inner, lane, x[1] % p.ocv * l.lanes + x[5]};
    if (p.unroll_kw) std::rotate(at.begin() + 4, at.begin() + 5, at.begin() + 7);
    if (s.groups > 1) block = x[1] / l.group_oc_blocks * l.ic_blocks + block;
    Expr value = s.plain_input ? source(x[0], lane, z, y, column) : source(x[0], block, z, y, column, lane);
    return te::Sum(value * packed(at), axes);
  });
}

std::vector<Step> Steps(const DirectLayer& l, const DirectPoint& p, const std::string& packed,
                        const std::vector<std::string>& residuals) {
  std::vector<Step> steps = {
      Split("out", "n", {p.Images(l)}, {"n.b", "n.i"}),      Split("out", "od", {p.Depths(l)}, {"od.b", "od.i"}),
      Split("out", "oh", {p.row_block}, {"oh.b", "oh.r"}),   Split("out", "oh.r", {p.tile_oh}, {"oh.o", "oh.i"}),
      Split("out", "oco", {p.oc_block}, {"oco.b", "oco.r"}), Split("out", "oco.r", {p.ocv}, {"oco.o", "oco.i"}),
      Split("out", "ow", {p.tile_ow}, {"ow.o", "ow.i"}),
  };
  std::vector<std::string> order = {"n.b",  "od.b", "oh.b", "oco.b", "oco.o", "n.i", "od.i",
                                    "oh.o", "ow.o", "oh.i", "ow.i",  "oco.i", "oci"};
  if (p.rows_outer) std::rotate(order.begin() + 4, order.begin() + 5, order.begin() + 8);
  steps.push_back(Reorder("out", order));
  steps.push_back(Fuse("out", {"n.b", "od.b", "oh.b", "oco.b"}, "task"));
  steps.push_back(Parallel("out", "task"));
  steps.push_back(Vectorize("out", "oci"));
  for (const char* axis : {"oh.i", "ow.i", "oco.i"}) steps.push_back(Unroll("out", axis));
  steps.push_back(ComputeAt("acc", "out", "ow.o"));
  steps.push_back(SetScope("acc", "register"));
  std::vector<std::string> reduce = {"n",     "od",    "io", "kd", "kh",  "kw", "ii",
                                     "ici.o", "ici.i", "oh", "ow", "oco", "oci"};
  if (p.unroll_kw) std::rotate(reduce.begin() + 5, reduce.begin() + 6, reduce.begin() + 9);
  if (ShortBlock(l)) {
    const char* blocks = p.ic_block == 1 ? "io" : "ii";
    steps.push_back(Split("acc", "c", {l.lanes / p.unroll_ic, p.unroll_ic}, {blocks, "ici.o", "ici.i"}));
    std::erase(reduce, p.ic_block == 1 ? "ii" : "io");
  } else {
    steps.push_back(Split("acc", "ici", {p.unroll_ic}, {"ici.o", "ici.i"}));
  }
  steps.push_back(Reorder("acc", reduce));
  steps.push_back(Vectorize("acc", "oci"));
  for (const char* axis : {"ici.i", "oh", "ow", "oco"}) steps.push_back(Unroll("acc", axis));
  if (p.unroll_kw) steps.push_back(Unroll("acc", "kw"));
  if (p.prefetch > 0) steps.push_back(Prefetch("acc", packed, "ici.o", p.prefetch));
  if (p.prefetch_tile) {
    steps.push_back(Prefetch("out", packed, "oco.o", l.WeightBytes(p.ocv)));
    steps.back().values.push_back(2);
  }
  if (p.fetch == "tile") {
    const int64_t depths = p.pad == "none" ? l.depth.in : l.depth.reach(p.pad == "task" ? p.Depths(l) : l.depth.out);
    int64_t plane = depths * (p.pad == "none" ? l.s.h * l.s.w : l.s.ph() * l.s.pw());
    if (l.ic_blocks > 1) {
      steps.push_back(Prefetch("acc", p.pad == "none" ? "data" : "pad", "io", p.ic_block * plane * l.lanes * 4));
    }
    steps.push_back(Prefetch("out", "out", "ow.o", 0));
    for (const std::string& name : residuals) steps.push_back(Prefetch("out", name, "ow.o", 0));
  }
  if (p.pad == "task") {
    steps.push_back(ComputeAt("pad", "out", "task"));
  } else if (p.pad == "root") {
    steps.push_back(Fuse("pad", {"n", l.s.plain_input ? "c" : "co", "id", "ih"}, "rows"));
    steps.push_back(Parallel("pad", "rows"));
  }
  if (p.pad != "none" && l.s.plain_input) {
    steps.push_back(Split("pad", "iw", {l.lanes}, {"iw.o", "iw.i"}));
    steps.push_back(Vectorize("pad", "iw.i"));
  } else if (p.pad != "none") {
    steps.push_back(Vectorize("pad", "ci"));
  }
  return steps;
}

class DirectTemplate final : public Template {
 public:
  DirectTemplate(const char* name, int version) : name_(name), version_(version) {}
  const char* name() const override { return name_; }
  int version() const override { return version_; }

  Result<search::Space> MakeSpace(const Workload& workload, const Target& target) const override {
    return DirectSpace(name_, DirectLayer::Of(workload, target));
  }

  Result<Config> Default(const search::Space& space, const Workload& workload, const Target& target) const override {
    return DirectDefault(space, DirectLayer::Of(workload, target));
  }

  Result<Instance> Instantiate(const Workload& workload, const Target& target, const Config& config) const override {
    DirectLayer l = DirectLayer::Of(workload, target);
    DirectPoint p = DirectPoint::Of(config);
    const int lanes = static_cast<int>(l.lanes);
    const ConvEnds ends = MakeConvEnds(workload, l, l.s.groups * l.ic_blocks, l.raw_cg, lanes);
    Tensor packed = PackWeight(l, p, ends.weight);
    Tensor acc = Accumulate(l, p, p.pad == "none" ? ends.data : MakePad(l, ends.data), packed, ends.out_shape);
    Tensor out = MakeConvOut(
        workload, l, ends, [&](const std::vector<Var>& x) { return acc(std::vector<Expr>(x.begin(), x.end())); },
        lanes);
    std::vector<std::string> residuals;
    for (size_t i = 0; i < ends.epilogue.read.size(); ++i) {
      if (!ends.epilogue.is_bias[i]) residuals.push_back(ends.epilogue.read[i].name());
    }
    return MakeConvInstance(ends, packed, out, Steps(l, p, packed.name(), residuals));
  }

 private:
  const char* name_;
  const int version_;
};

}  // namespace

const Template& Conv2dDirect() {
  static const DirectTemplate t("conv2d_direct", 3);
  return t;
}

const Template& Conv3dDirect() {
  static const DirectTemplate t("conv3d_direct", 2);
  return t;
}

}  // namespace hone::op
