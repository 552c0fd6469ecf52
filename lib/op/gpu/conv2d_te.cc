#include "op/gpu/conv2d_te.h"

#include "op/conv/conv2d_te.h"

namespace hone::op {

using ir::Expr;
using ir::Var;

te::Tensor WithEpilogue(const Workload& workload, const EpilogueTensors& epilogue, const te::Tensor& sums,
                        const std::vector<int64_t>& shape, const std::vector<std::string>& axes) {
  std::vector<std::string> names = {"n", "f"};
  names.insert(names.end(), axes.begin(), axes.end());
  return te::Compute("out", shape, names, [&](const std::vector<Var>& x) {
    const std::vector<Expr> at(x.begin(), x.end());
    return ApplyEpilogue(workload, sums(at), [&](size_t i) {
      return epilogue.is_bias[i] ? epilogue.read[i](at[1]) : epilogue.read[i](at);
    });
  });
}

GpuConv2d MakeGpuConv2d(const Workload& w) {
  GpuConv2d c;
  c.shape = Conv2dShape::Of(w);
  const Conv2dShape& s = c.shape;
  c.data = te::Placeholder("data", {s.n, s.c, s.h, s.w});
  c.weight = te::Placeholder("weight", {s.o, s.cg, s.kh, s.kw});
  if (s.padded()) c.pad = MakePad(c.data, s.pt, s.pl, s.ph(), s.pw());
  const ir::IterVar rc = te::ReduceAxis(s.cg, "rc"), ry = te::ReduceAxis(s.kh, "ry"), rx = te::ReduceAxis(s.kw, "rx");
  c.conv = te::Compute("conv", {s.n, s.o, s.oh, s.ow}, {"n", "f", "y", "x"}, [&](const std::vector<Var>& x) {
    Expr channel = rc.var;
    if (s.depthwise()) {
      channel = x[1];
    } else if (s.groups > 1) {
      channel = x[1] / (s.o / s.groups) * s.cg + rc.var;
    }
    return te::Sum(c.input()(x[0], channel, x[2] * s.sh + ry.var * s.dh, x[3] * s.sw + rx.var * s.dw) *
                       c.weight(x[1], s.depthwise() ? Expr(0) : Expr(rc.var), ry.var, rx.var),
                   s.depthwise() ? std::vector<ir::IterVar>{ry, rx} : std::vector<ir::IterVar>{rc, ry, rx});
  });
  c.epilogue = MakeEpilogueTensors(w, {s.n, s.o, s.oh, s.ow}, s.o, 0);
  c.out = WithEpilogue(w, c.epilogue, c.conv, c.conv.shape(), {"y", "x"});
  return c;
}

std::vector<std::string> GpuConv2d::InputAxes() const {
  return pad.defined() ? std::vector<std::string>{"n", "c", "ih", "iw"}
                       : std::vector<std::string>{"d0", "d1", "d2", "d3"};
}

Instance MakeGpuInstance(const te::Tensor& data, const te::Tensor& weight, const te::Tensor& kernel_weight,
                         const EpilogueTensors& epilogue, const te::Tensor& out) {
  Instance instance;
  instance.outputs = {out};
  instance.placeholders = {data, weight};
  instance.args = {data, kernel_weight};
  for (const te::Tensor& t : epilogue.placeholders) {
    instance.placeholders.push_back(t);
    instance.args.push_back(t);
  }
  instance.args.push_back(out);
  return instance;
}

Instance GpuConv2d::MakeInstance() const { return MakeGpuInstance(data, weight, weight, epilogue, out); }

}  // namespace hone::op
