// conv2d_nhwc(f32[N,H,W,C], f32[O,C,KH,KW], stride=1x1, pad=0,0,0,0, dilation=1x1) + epilogue -> [N,OH,OW,O], all
// tensors row-major. On CPUs the schedule is a sketch: tiles of sums in registers (sketch/sums.h).
#include "op/conv/conv2d_te.h"
#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/operators.h"
#include "op/plain_te.h"
#include "semantics/window.h"

namespace hone::op {
namespace {

// The input with zeros around it as far as windows reach; `data` itself without padding.
Tensor Padded(const semantics::Window& w, const Tensor& data) {
  const std::vector<int64_t>& s = data.shape();
  if (w.before[0] == 0 && w.before[1] == 0 && w.reach(0) <= w.in[0] && w.reach(1) <= w.in[1]) return data;
  return te::Compute("pad", {s[0], w.reach(0), w.reach(1), s[3]}, {"n", "ih", "iw", "c"}, [&](const Vars& x) {
    Expr inside;
    std::vector<Expr> at;
    for (size_t i = 0; i < 2; ++i) {
      at.push_back(x[i + 1] - w.before[i]);
      inside = WithinExtent(at[i], -w.before[i], w.reach(i) - 1 - w.before[i], w.in[i], inside);
    }
    return ZeroOutside(inside, data(x[0], at[0], at[1], x[3]));
  });
}

Result<FixedKernel> BuildConv2dNhwc(const Workload& w, const Target&) {
  const std::vector<int64_t>& s = w.inputs[0].shape;
  const semantics::Window window = *semantics::WindowOf(w);
  const int64_t o = w.inputs[1].shape[0];
  const Tensor data = te::Placeholder("data", s), weight = te::Placeholder("weight", w.inputs[1].shape);
  const Tensor source = Padded(window, data);
  const std::vector<int64_t> shape = {s[0], window.out[0], window.out[1], o};
  const std::vector<std::string> names = {"n", "oh", "ow", "oc"};
  const ir::IterVar kh = te::ReduceAxis(window.kernel[0], "kh"), kw = te::ReduceAxis(window.kernel[1], "kw");
  const ir::IterVar c = te::ReduceAxis(s[3], "c");
  const std::string sum = w.epilogue.empty() ? "out" : "acc";
  const Tensor acc = te::Compute(sum, shape, names, [&](const Vars& x) {
    const Expr y = x[1] * window.stride[0] + kh.var * window.dilation[0];
    const Expr column = x[2] * window.stride[1] + kw.var * window.dilation[1];
    return te::Sum(source(x[0], y, column, c.var) * weight(x[3], c.var, kh.var, kw.var), {kh, kw, c});
  });
  if (w.epilogue.empty()) return FixedKernel{{{data, weight}, {acc}}, {}};
  const EpilogueTensors epilogue = MakeEpilogueTensors(w, shape, o, 0);
  const Tensor out = te::Compute("out", shape, names, [&](const Vars& x) {
    return PlainEpilogue(w, epilogue, acc({x.begin(), x.end()}), x);
  });
  return FixedKernel{{epilogue.After({data, weight}), {out}}, {}};
}

}  // namespace

const Operator& Conv2dNhwc() {
  static const SketchedOperator op("conv2d_nhwc", BuildConv2dNhwc);
  return op;
}

}  // namespace hone::op
