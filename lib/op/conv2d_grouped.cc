#include "op/conv2d_grouped.h"

#include "op/conv2d_shape.h"
#include "op/conv2d_te.h"
#include "op/epilogue.h"
#include "op/fixed_template.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

Result<Instance> Build(const Workload& workload, const Target& target) {
  Conv2dShape s = Conv2dShape::Of(workload);
  int lanes = target.FloatLanes();
  int64_t in_blocks = CeilDiv(s.c, lanes), out_blocks = CeilDiv(s.o, lanes), og = s.o / s.groups;
  std::vector<int64_t> data_shape = {s.n, in_blocks, s.h, s.w, lanes};
  if (s.plain_input) data_shape = {s.n, s.c, s.h, s.w};
  Tensor data = te::Placeholder("data", data_shape);
  Tensor weight = te::Placeholder("weight", workload.inputs[1].shape);
  std::vector<int64_t> out_shape = {s.n, out_blocks, s.oh, s.ow, lanes};
  EpilogueTensors epilogue = MakeEpilogueTensors(workload, out_shape, s.o, lanes);

  Tensor pad = te::Compute("pad", {s.n, s.c, s.ph(), s.pw()}, {"n", "c", "ih", "iw"}, [&](const std::vector<Var>& x) {
    Expr y = x[2] - s.pt, column = x[3] - s.pl;
    Expr read = s.plain_input ? data(x[0], x[1], y, column) : data(x[0], x[1] / lanes, y, column, x[1] % lanes);
    if (!s.padded()) return read;
    Expr inside = y >= 0 && y < s.h && (column >= 0 && column < s.w);
    return te::IfThenElse(inside, read, ir::Imm(DType::Float(32), 0));
  });
  ir::IterVar c = te::ReduceAxis(s.cg, "c"), kh = te::ReduceAxis(s.kh, "kh"), kw = te::ReduceAxis(s.kw, "kw");
  Tensor acc = te::Compute("acc", {s.n, s.o, s.oh, s.ow}, {"n", "o", "oh", "ow"}, [&](const std::vector<Var>& x) {
    Expr value = pad(x[0], x[1] / og * s.cg + c.var, x[2] * s.sh + kh.var * s.dh, x[3] * s.sw + kw.var * s.dw);
    return te::Sum(value * weight(x[1], c.var, kh.var, kw.var), {c, kh, kw});
  });
  Tensor out = te::Compute("out", out_shape, {"n", "co", "oh", "ow", "ci"}, [&](const std::vector<Var>& x) {
    Expr o = x[1] * lanes + x[4];
    Expr value = s.o % lanes == 0 ? acc(x[0], o, x[2], x[3])
                                  : ir::MakeSelect(o < s.o, acc(x[0], ir::Min(o, s.o - 1), x[2], x[3]),
                                                   ir::Imm(DType::Float(32), 0));
    return BlockedEpilogue(workload, epilogue, value, x, s.o, lanes);
  });

  Instance instance;
  instance.outputs = {out};
  instance.args = {data, weight};
  instance.args.insert(instance.args.end(), epilogue.read.begin(), epilogue.read.end());
  instance.args.push_back(out);
  instance.placeholders = {data, weight};
  instance.placeholders.insert(instance.placeholders.end(), epilogue.placeholders.begin(), epilogue.placeholders.end());
  instance.steps = {
      Fuse("pad", {"n", "c"}, "task"),
      Parallel("pad", "task"),
      Fuse("acc", {"n", "o"}, "task"),
      Parallel("acc", "task"),
      Split("acc", "ow", {lanes}, {"ow.o", "ow.i"}),
      Reorder("acc", {"oh", "ow.o", "c", "kh", "kw", "ow.i"}),
      Vectorize("acc", "ow.i"),
      Fuse("out", {"n", "co"}, "task"),
      Parallel("out", "task"),
      Vectorize("out", "ci"),
  };
  return instance;
}

}  // namespace

const Template& Conv2dGrouped() {
  static const FixedTemplate t("conv2d_grouped_generic", 1, Build);
  return t;
}

}  // namespace hone::op
