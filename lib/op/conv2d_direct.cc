#include "op/conv2d_direct.h"

#include <algorithm>
#include <utility>

#include "op/conv2d_direct_space.h"
#include "op/conv2d_te.h"
#include "op/epilogue.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

// [tile of output channels][block of ic_block][kh][kw][ic block inside][channel][ocv * lanes], or with kw after the
// channel if that is unrolled there: a tile reads it in order.
Tensor PackWeight(const DirectLayer& l, const DirectPoint& p, const Tensor& raw) {
  const Conv2dShape& s = l.s;
  int64_t width = p.ocv * l.lanes, tiles = CeilDiv(l.oc_blocks, p.ocv);
  std::vector<int64_t> shape = {tiles, l.ic_blocks / p.ic_block, s.kh, s.kw, p.ic_block, l.ic_lanes, width};
  std::vector<std::string> axes = {"t", "io", "kh", "kw", "ii", "ici", "v"};
  size_t ii = 4, ici = 5, kw = 3;
  if (p.unroll_kw) {
    ii = 3, ici = 4, kw = 5;
    shape = {tiles, l.ic_blocks / p.ic_block, s.kh, p.ic_block, l.ic_lanes, s.kw, width};
    axes = {"t", "io", "kh", "ii", "ici", "kw", "v"};
  }
  return te::ComputeConstant("weight.packed", shape, axes, [&](const std::vector<Var>& x) {
    Expr oc = x[0] * width + x[6];
    Expr ic = (x[1] * p.ic_block + x[ii]) * l.ic_lanes + x[ici];
    if (l.merged == 1) {
      return ReadOrZero(raw, {oc, ic, x[2], x[kw]}, {tiles * width, l.ic_blocks * l.ic_lanes, s.kh, s.kw});
    }
    Expr read = ReadOrZero(raw, {oc, ic % l.raw_cg, x[2], x[kw]}, {tiles * width, l.raw_cg, s.kh, s.kw});
    return ir::MakeSelect(ir::Eq(ic / l.raw_cg, oc / l.raw_og % l.merged), read, ir::Imm(DType::Float(32), 0));
  });
}

// A last block with unused lanes is reduced over its real channels: one axis for all of them, taken apart in steps.
bool ShortBlock(const DirectLayer& l) { return !l.s.plain_input && l.s.groups == 1 && l.s.c % l.lanes != 0; }

Tensor AccumulateReal(const DirectLayer& l, const DirectPoint& p, const Tensor& source, const Tensor& packed) {
  const Conv2dShape& s = l.s;
  ir::IterVar kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(s.kw, "kw"), c = te::ReduceAxis(s.c, "c");
  return te::Compute(
      "acc", {s.n, l.oc_blocks, s.oh, s.ow, l.lanes}, {"n", "oco", "oh", "ow", "oci"}, [&](const std::vector<Var>& x) {
        Expr y = x[2] * s.sh + kh.var * s.dh, column = x[3] * s.sw + kw.var * s.dw;
        Expr block = c.var / l.lanes, lane = c.var % l.lanes, zero(0);
        Expr io = p.ic_block == 1 ? block : zero, ii = p.ic_block == 1 ? zero : block;
        std::vector<Expr> at = {x[1] / p.ocv, io, kh.var, kw.var, ii, lane, x[1] % p.ocv * l.lanes + x[4]};
        if (p.unroll_kw) std::rotate(at.begin() + 3, at.begin() + 4, at.begin() + 6);
        return te::Sum(source(x[0], block, y, column, lane) * packed(at), {c, kh, kw});
      });
}

Tensor Accumulate(const DirectLayer& l, const DirectPoint& p, const Tensor& source, const Tensor& packed) {
  if (ShortBlock(l)) return AccumulateReal(l, p, source, packed);
  const Conv2dShape& s = l.s;
  ir::IterVar io = te::ReduceAxis(l.ic_blocks / p.ic_block, "io"), ii = te::ReduceAxis(p.ic_block, "ii");
  ir::IterVar kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(s.kw, "kw");
  ir::IterVar ici = te::ReduceAxis(l.ic_lanes, "ici");
  return te::Compute(
      "acc", {s.n, l.oc_blocks, s.oh, s.ow, l.lanes}, {"n", "oco", "oh", "ow", "oci"}, [&](const std::vector<Var>& x) {
        Expr y = x[2] * s.sh + kh.var * s.dh, column = x[3] * s.sw + kw.var * s.dw;
        Expr block = io.var * p.ic_block + ii.var;
        if (s.groups > 1) block = x[1] / l.group_oc_blocks * l.ic_blocks + block;
        Expr value = s.plain_input ? source(x[0], ici.var, y, column) : source(x[0], block, y, column, ici.var);
        std::vector<Expr> at = {x[1] / p.ocv, io.var, kh.var, kw.var, ii.var, ici.var, x[1] % p.ocv * l.lanes + x[4]};
        if (p.unroll_kw) std::rotate(at.begin() + 3, at.begin() + 4, at.begin() + 6);
        Expr weight = packed(at);
        return te::Sum(value * weight, {io, kh, kw, ii, ici});
      });
}

std::vector<Step> Steps(const DirectLayer& l, const DirectPoint& p, const std::string& packed,
                        const std::vector<std::string>& residuals) {
  std::vector<Step> steps = {
      Split("out", "oh", {p.row_block}, {"oh.b", "oh.r"}),   Split("out", "oh.r", {p.tile_oh}, {"oh.o", "oh.i"}),
      Split("out", "oco", {p.oc_block}, {"oco.b", "oco.r"}), Split("out", "oco.r", {p.ocv}, {"oco.o", "oco.i"}),
      Split("out", "ow", {p.tile_ow}, {"ow.o", "ow.i"}),
  };
  std::vector<std::string> order = {"n", "oh.b", "oco.b", "oco.o", "oh.o", "ow.o", "oh.i", "ow.i", "oco.i", "oci"};
  if (p.rows_outer) std::swap(order[3], order[4]);
  steps.push_back(Reorder("out", order));
  steps.push_back(Fuse("out", {"n", "oh.b", "oco.b"}, "task"));
  steps.push_back(Parallel("out", "task"));
  steps.push_back(Vectorize("out", "oci"));
  for (const char* axis : {"oh.i", "ow.i", "oco.i"}) steps.push_back(Unroll("out", axis));
  steps.push_back(ComputeAt("acc", "out", "ow.o"));
  steps.push_back(SetScope("acc", "register"));
  std::vector<std::string> reduce = {"n", "io", "kh", "kw", "ii", "ici.o", "ici.i", "oh", "ow", "oco", "oci"};
  if (p.unroll_kw) std::rotate(reduce.begin() + 3, reduce.begin() + 4, reduce.begin() + 7);
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
    int64_t plane = p.pad == "none" ? l.s.h * l.s.w : l.s.ph() * l.s.pw();
    if (l.ic_blocks > 1) {
      steps.push_back(Prefetch("acc", p.pad == "none" ? "data" : "pad", "io", p.ic_block * plane * l.lanes * 4));
    }
    steps.push_back(Prefetch("out", "out", "ow.o", 0));
    for (const std::string& name : residuals) steps.push_back(Prefetch("out", name, "ow.o", 0));
  }
  if (p.pad == "task") {
    steps.push_back(ComputeAt("pad", "out", "task"));
  } else if (p.pad == "root") {
    steps.push_back(Fuse("pad", {"n", l.s.plain_input ? "c" : "co", "ih"}, "rows"));
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

class Conv2dDirectTemplate final : public Template {
 public:
  const char* name() const override { return "conv2d_direct"; }
  int version() const override { return 2; }

  Result<search::Space> MakeSpace(const Workload& workload, const Target& target) const override {
    return DirectSpace(DirectLayer::Of(workload, target));
  }

  Result<Config> Default(const search::Space& space, const Workload& workload, const Target& target) const override {
    return DirectDefault(space, DirectLayer::Of(workload, target));
  }

  Result<Instance> Instantiate(const Workload& workload, const Target& target, const Config& config) const override {
    DirectLayer l = DirectLayer::Of(workload, target);
    DirectPoint p = DirectPoint::Of(config);
    const Conv2dShape& s = l.s;
    Instance instance;
    std::vector<int64_t> data_shape = {s.n, s.groups * l.ic_blocks, s.h, s.w, l.lanes};
    if (s.plain_input) data_shape = {s.n, s.c, s.h, s.w};
    Tensor data = te::Placeholder("data", data_shape);
    Tensor raw = te::Placeholder("weight", workload.inputs[1].shape);
    std::vector<int64_t> out_shape = {s.n, l.oc_blocks, s.oh, s.ow, l.lanes};
    EpilogueTensors epilogue = MakeEpilogueTensors(workload, out_shape, s.o, static_cast<int>(l.lanes));
    Tensor source = p.pad == "none" ? data : MakePad(data, s.pt, s.pl, s.ph(), s.pw());
    Tensor packed = PackWeight(l, p, raw);
    Tensor acc = Accumulate(l, p, source, packed);
    Tensor out = te::Compute("out", out_shape, {"n", "oco", "oh", "ow", "oci"}, [&](const std::vector<Var>& x) {
      return BlockedEpilogue(workload, epilogue, acc(std::vector<Expr>(x.begin(), x.end())), x, s.o,
                             static_cast<int>(l.lanes));
    });
    instance.outputs = {out};
    instance.args = {data, packed};
    instance.args.insert(instance.args.end(), epilogue.read.begin(), epilogue.read.end());
    instance.args.push_back(out);
    instance.placeholders = {data, raw};
    instance.placeholders.insert(instance.placeholders.end(), epilogue.placeholders.begin(),
                                 epilogue.placeholders.end());
    std::vector<std::string> residuals;
    for (size_t i = 0; i < epilogue.read.size(); ++i) {
      if (!epilogue.is_bias[i]) residuals.push_back(epilogue.read[i].name());
    }
    instance.steps = Steps(l, p, packed.name(), residuals);
    return instance;
  }
};

}  // namespace

const Template& Conv2dDirect() {
  static const Conv2dDirectTemplate t;
  return t;
}

}  // namespace hone::op
