#include "op/conv3d_direct.h"

#include "op/conv2d_te.h"
#include "op/conv3d_space.h"
#include "op/epilogue.h"
#include "op/fixed_template.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

// The padded input as far as the windows reach, from blocked [n,co,d,h,w,ci] or plain [n,c,d,h,w] data.
Tensor MakePad3d(const Conv3dShape& s, const Tensor& data) {
  std::vector<int64_t> shape = data.shape();
  for (size_t i = 0; i < 3; ++i) shape[2 + i] = s.reach(i);
  std::vector<std::string> axes = {"n", "co", "id", "ih", "iw"};
  if (shape.size() == 6) axes.push_back("ci");
  return te::Compute("pad", shape, axes, [&](const std::vector<Var>& x) {
    Expr inside;
    auto require = [&](Expr condition) { inside = inside.defined() ? inside && condition : condition; };
    std::vector<Expr> at(x.begin(), x.end());
    for (size_t i = 0; i < 3; ++i) {
      const int64_t before = s.window.before[i];
      if (before > 0) require(x[2 + i] >= before);
      if (s.reach(i) > s.in(i) + before) require(x[2 + i] < s.in(i) + before);
      at[2 + i] = x[2 + i] - before;
    }
    Expr read = data(at);
    return inside.defined() ? te::IfThenElse(inside, read, ir::Imm(DType::Float(32), 0)) : read;
  });
}

// [tile of output channels][block of input channels][kd][kh][kw][channel of the block][ocv * lanes].
Tensor PackWeight(const Layer3d& l, const Point3d& p, const Tensor& raw) {
  const int64_t width = p.ocv * l.lanes, tiles = CeilDiv(l.oc_blocks, p.ocv);
  const std::vector<int64_t> shape = {tiles, l.ic_blocks, l.s.k(0), l.s.k(1), l.s.k(2), l.ic_lanes, width};
  return te::ComputeConstant(
      "weight.packed", shape, {"t", "io", "kd", "kh", "kw", "ici", "v"}, [&](const std::vector<Var>& x) {
        return ReadOrZero(raw, {x[0] * width + x[6], x[1] * l.ic_lanes + x[5], x[2], x[3], x[4]},
                          {tiles * width, l.ic_blocks * l.ic_lanes, l.s.k(0), l.s.k(1), l.s.k(2)});
      });
}

Tensor Accumulate(const Layer3d& l, const Point3d& p, const Tensor& source, const Tensor& packed,
                  const std::vector<int64_t>& shape) {
  const Conv3dShape& s = l.s;
  ir::IterVar io = te::ReduceAxis(l.ic_blocks, "io"), ici = te::ReduceAxis(l.ic_lanes, "ici");
  ir::IterVar kd = te::ReduceAxis(s.k(0), "kd"), kh = te::ReduceAxis(s.k(1), "kh"), kw = te::ReduceAxis(s.k(2), "kw");
  return te::Compute("acc", shape, {"n", "oco", "od", "oh", "ow", "oci"}, [&](const std::vector<Var>& x) {
    Expr z = x[2] * s.s(0) + kd.var * s.d(0), y = x[3] * s.s(1) + kh.var * s.d(1),
         column = x[4] * s.s(2) + kw.var * s.d(2);
    Expr value = s.plain_input ? source(x[0], ici.var, z, y, column) : source(x[0], io.var, z, y, column, ici.var);
    Expr weight = packed(x[1] / p.ocv, io.var, kd.var, kh.var, kw.var, ici.var, x[1] % p.ocv * l.lanes + x[5]);
    return te::Sum(value * weight, {io, kd, kh, kw, ici});
  });
}

std::vector<Step> Steps(const Layer3d& l, const Point3d& p) {
  std::vector<Step> steps = {
      Split("out", "oh", {p.row_block}, {"oh.b", "oh.r"}),   Split("out", "oh.r", {p.tile_oh}, {"oh.o", "oh.i"}),
      Split("out", "oco", {p.oc_block}, {"oco.b", "oco.r"}), Split("out", "oco.r", {p.ocv}, {"oco.o", "oco.i"}),
      Split("out", "ow", {p.tile_ow}, {"ow.o", "ow.i"}),
  };
  std::vector<std::string> order = {"n",    "od",   "oh.b", "oco.b", "oco.o", "oh.o",
                                    "ow.o", "oh.i", "ow.i", "oco.i", "oci"};
  if (p.rows_outer) std::swap(order[4], order[5]);
  steps.push_back(Reorder("out", order));
  steps.push_back(Fuse("out", {"n", "od", "oh.b", "oco.b"}, "task"));
  steps.push_back(Parallel("out", "task"));
  steps.push_back(Vectorize("out", "oci"));
  for (const char* axis : {"oh.i", "ow.i", "oco.i"}) steps.push_back(Unroll("out", axis));
  steps.push_back(ComputeAt("acc", "out", "ow.o"));
  steps.push_back(SetScope("acc", "register"));
  steps.push_back(Split("acc", "ici", {p.unroll_ic}, {"ici.o", "ici.i"}));
  steps.push_back(Reorder("acc", {"n", "od", "io", "kd", "kh", "kw", "ici.o", "ici.i", "oh", "ow", "oco", "oci"}));
  steps.push_back(Vectorize("acc", "oci"));
  for (const char* axis : {"ici.i", "oh", "ow", "oco"}) steps.push_back(Unroll("acc", axis));
  if (p.prefetch > 0) steps.push_back(Prefetch("acc", "weight.packed", "ici.o", p.prefetch));
  if (p.pad == "task") {
    steps.push_back(ComputeAt("pad", "out", "task"));
  } else if (p.pad == "root") {
    steps.push_back(Fuse("pad", {"n", "co", "id"}, "rows"));
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

struct Ends {
  Tensor data, raw;
  std::vector<int64_t> out_shape;
  EpilogueTensors epilogue;
};
Ends MakeEnds(const Workload& w, const Conv3dShape& s, int lanes) {
  Ends e;
  std::vector<int64_t> data = w.inputs[0].shape;
  if (!s.plain_input) data = BlockedShape(data, lanes);
  e.data = te::Placeholder("data", data);
  e.raw = te::Placeholder("weight", w.inputs[1].shape);
  e.out_shape = BlockedShape({s.n, s.o, s.out(0), s.out(1), s.out(2)}, lanes);
  e.epilogue = MakeEpilogueTensors(w, e.out_shape, s.o, lanes);
  return e;
}

Instance MakeInstance(const Ends& e, const Tensor& weight, const Tensor& out, std::vector<Step> steps) {
  Instance instance;
  instance.outputs = {out};
  instance.args = {e.data, weight};
  instance.args.insert(instance.args.end(), e.epilogue.read.begin(), e.epilogue.read.end());
  instance.args.push_back(out);
  instance.placeholders = {e.data, e.raw};
  instance.placeholders.insert(instance.placeholders.end(), e.epilogue.placeholders.begin(),
                               e.epilogue.placeholders.end());
  instance.steps = std::move(steps);
  return instance;
}

const std::vector<std::string> kOutAxes = {"n", "oco", "od", "oh", "ow", "oci"};

class Conv3dDirectTemplate final : public Template {
 public:
  const char* name() const override { return "conv3d_direct"; }
  int version() const override { return 1; }
  Result<search::Space> MakeSpace(const Workload& workload, const Target& target) const override {
    return Space3d(Layer3d::Of(workload, target));
  }
  Result<Config> Default(const search::Space& space, const Workload& workload, const Target& target) const override {
    return Default3d(space, Layer3d::Of(workload, target));
  }
  Result<Instance> Instantiate(const Workload& workload, const Target& target, const Config& config) const override {
    Layer3d l = Layer3d::Of(workload, target);
    Point3d p = Point3d::Of(config);
    const int lanes = static_cast<int>(l.lanes);
    Ends e = MakeEnds(workload, l.s, lanes);
    Tensor source = p.pad == "none" ? e.data : MakePad3d(l.s, e.data);
    Tensor packed = PackWeight(l, p, e.raw);
    Tensor acc = Accumulate(l, p, source, packed, e.out_shape);
    Tensor out = te::Compute("out", e.out_shape, kOutAxes, [&](const std::vector<Var>& x) {
      return BlockedEpilogue(workload, e.epilogue, acc(std::vector<Expr>(x.begin(), x.end())), x, l.s.o, lanes);
    });
    return MakeInstance(e, packed, out, Steps(l, p));
  }
};

Result<Instance> BuildGrouped(const Workload& w, const Target& target) {
  Conv3dShape s = Conv3dShape::Of(w);
  const int lanes = target.FloatLanes();
  const int64_t og = s.o / s.groups;
  Ends e = MakeEnds(w, s, lanes);
  Tensor pad =
      te::Compute("pad", {s.n, s.c, s.reach(0), s.reach(1), s.reach(2)}, {"n", "c", "id", "ih", "iw"},
                  [&](const std::vector<Var>& x) {
                    Expr inside;
                    std::vector<Expr> at = {x[0], s.plain_input ? Expr(x[1]) : x[1] / lanes};
                    for (size_t i = 0; i < 3; ++i) {
                      at.push_back(x[2 + i] - s.window.before[i]);
                      Expr condition = at.back() >= 0 && at.back() < s.in(i);
                      inside = inside.defined() ? inside && condition : condition;
                    }
                    if (!s.plain_input) at.push_back(x[1] % lanes);
                    return s.NeedsPad() ? te::IfThenElse(inside, e.data(at), ir::Imm(DType::Float(32), 0)) : e.data(at);
                  });
  ir::IterVar c = te::ReduceAxis(s.cg, "c"), kd = te::ReduceAxis(s.k(0), "kd");
  ir::IterVar kh = te::ReduceAxis(s.k(1), "kh"), kw = te::ReduceAxis(s.k(2), "kw");
  Tensor acc = te::Compute("acc", {s.n, s.o, s.out(0), s.out(1), s.out(2)}, {"n", "o", "od", "oh", "ow"},
                           [&](const std::vector<Var>& x) {
                             Expr value = pad(x[0], x[1] / og * s.cg + c.var, x[2] * s.s(0) + kd.var * s.d(0),
                                              x[3] * s.s(1) + kh.var * s.d(1), x[4] * s.s(2) + kw.var * s.d(2));
                             return te::Sum(value * e.raw(x[1], c.var, kd.var, kh.var, kw.var), {c, kd, kh, kw});
                           });
  Tensor out = te::Compute("out", e.out_shape, kOutAxes, [&](const std::vector<Var>& x) {
    Expr o = x[1] * lanes + x[5];
    Expr value = acc(x[0], s.o % lanes == 0 ? o : ir::Min(o, s.o - 1), x[2], x[3], x[4]);
    if (s.o % lanes != 0) value = ir::MakeSelect(o < s.o, value, ir::Imm(DType::Float(32), 0));
    return BlockedEpilogue(w, e.epilogue, value, x, s.o, lanes);
  });
  return MakeInstance(e, e.raw, out,
                      {
                          Fuse("pad", {"n", "c"}, "task"),
                          Parallel("pad", "task"),
                          Fuse("acc", {"n", "o"}, "task"),
                          Parallel("acc", "task"),
                          Split("acc", "ow", {lanes}, {"ow.o", "ow.i"}),
                          Reorder("acc", {"od", "oh", "ow.o", "c", "kd", "kh", "kw", "ow.i"}),
                          Vectorize("acc", "ow.i"),
                          Fuse("out", {"n", "oco"}, "task"),
                          Parallel("out", "task"),
                          Vectorize("out", "oci"),
                      });
}

}  // namespace

const Template& Conv3dDirect() {
  static const Conv3dDirectTemplate t;
  return t;
}

const Template& Conv3dGrouped() {
  static const FixedTemplate t("conv3d_grouped_generic", 1, BuildGrouped);
  return t;
}

}  // namespace hone::op
