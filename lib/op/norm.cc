// lrn(f32[N,C,..], size=, alpha=0.0001, beta=0.75, bias=1), instance_norm(x, scale[C], bias[C], epsilon=1e-05),
// layer_norm(x, scale[, bias], axis=last, epsilon=1e-05), resize(x, out=, mode=nearest, ..). Plain, any rank; lrn with
// layout=nhwc too. lib/semantics/norms.cc has the definitions.
#include <algorithm>

#include "op/defined_operator.h"
#include "op/operators.h"
#include "op/plain_te.h"
#include "semantics/indices.h"
#include "semantics/semantics.h"

namespace hone::op {
namespace {

using ir::Intrinsic;

Result<FixedKernel> BuildLrn(const Workload& w, const Target&) {
  const std::vector<int64_t>& in = w.inputs[0].shape;
  const bool last = semantics::OutputLayout(w) == Layout::kChannelsLast;
  const size_t axis = last ? 2 : 1;  // of the channels
  const int64_t size = semantics::Whole(w, "size", 1), channels = in[1];
  const double alpha = semantics::Real(w, "alpha", 1e-4) / static_cast<double>(size);
  const double beta = semantics::Real(w, "beta", 0.75), bias = semantics::Real(w, "bias", 1);
  std::vector<int64_t> shape = {in[0], channels, semantics::Product(in, 2, in.size())};
  if (last) std::swap(shape[1], shape[2]);
  const std::vector<std::string> names = AxisNames(3);
  Tensor data = te::Placeholder("data", shape);
  ir::IterVar r = te::ReduceAxis(size, "r");
  Tensor sum = te::Compute("sum", shape, names, [&](const Vars& x) {
    Expr c = x[axis] + r.var - (size - 1) / 2;
    std::vector<Expr> at(x.begin(), x.end());
    at[axis] = ir::Max(ir::Min(c, channels - 1), 0);
    Expr value = data(at);
    return te::Sum(ir::MakeSelect(c >= 0 && c < channels, value * value, Float(0)), {r});
  });
  Tensor out = te::Compute("out", shape, names, [&](const Vars& x) {
    const std::vector<Expr> at(x.begin(), x.end());
    Expr base = sum(at) * Float(alpha) + Float(bias);
    return data(at) / ir::MakeCall(DType::Float(32), Intrinsic::kPow, {base, Float(beta)});
  });
  return FixedKernel{{{data}, {out}}, {}};
}

// Rows [.., length]; instance_norm has scale and bias per row's channel, layer_norm per element.
Result<FixedKernel> BuildNorm(const Workload& w, const Target&) {
  const std::vector<int64_t>& in = w.inputs[0].shape;
  const bool channelwise = w.op == "instance_norm";
  const double epsilon = semantics::Real(w, "epsilon", 1e-5);
  ReduceAxes axes;
  if (channelwise) {
    axes = {{in[0], in[1], semantics::Product(in, 2, in.size())}, {false, false, true}};
  } else {
    const auto axis = static_cast<size_t>(semantics::Whole(w, "axis", static_cast<int64_t>(in.size()) - 1));
    axes = {{semantics::Product(in, 0, axis), semantics::Product(in, axis, in.size())}, {false, true}};
  }
  const size_t last = axes.extents.size() - 1, by = channelwise ? 1 : last;
  const double inverse = 1 / static_cast<double>(axes.extents[last]);
  std::vector<Tensor> inputs = {te::Placeholder("data", axes.extents)};
  for (size_t i = 1; i < w.inputs.size(); ++i) {
    inputs.push_back(te::Placeholder("data" + std::to_string(i), {axes.extents[by]}));
  }
  const Tensor& data = inputs[0];
  using At = const std::vector<Expr>&;
  const Tensor sum = ReduceOver("sum", ir::Reducer::kSum, axes, [&](At at) { return data(at); });
  const Tensor mean = ElementWise("mean", axes.Kept(), [&](At at) { return sum(at) * Float(inverse); });
  const auto centred = [&](At at) { return data(at) - mean(axes.KeptOf(at)); };
  const Tensor square = ReduceOver("square", ir::Reducer::kSum, axes, [&](At at) { return centred(at) * centred(at); });
  const Tensor norm = ElementWise("norm", axes.Kept(), [&](At at) {
    return Float(1) / CallMath(Intrinsic::kSqrt, square(at) * Float(inverse) + Float(epsilon));
  });
  const Tensor out = ElementWise("out", axes.extents, [&](At at) {
    const Expr value = centred(at) * norm(axes.KeptOf(at)) * inputs[1](at[by]);
    return inputs.size() > 2 ? value + inputs[2](at[by]) : value;
  });
  return FixedKernel{{inputs, {out}}, {}};
}

// The value at `x` of `data`, interpolated along axis `group`.
Expr Interpolated(const Tensor& data, const semantics::ResizeAxis& axis, bool cubic, const std::vector<Expr>& x,
                  size_t group) {
  Expr place = ir::MakeCast(DType::Float(32), x[group]) * Float(axis.a()) + Float(axis.b());
  Expr floor = CallMath(Intrinsic::kFloor, place);
  Expr low = ir::MakeCast(DType::Int(64), floor), t = place - floor;
  auto tap = [&](int64_t offset) {
    std::vector<Expr> at = x;
    at[group] = ir::Max(ir::Min(low + offset, axis.in - 1), 0);
    return data(at);
  };
  if (!cubic) return tap(0) * (Float(1) - t) + tap(1) * t;
  const double a = axis.cubic;
  auto far = [&](Expr d) { return ((Float(a) * d - Float(5 * a)) * d + Float(8 * a)) * d - Float(4 * a); };
  auto near = [&](Expr d) { return (Float(a + 2) * d - Float(a + 3)) * d * d + Float(1); };
  const Expr weights[4] = {far(t + Float(1)), near(t), near(Float(1) - t), far(Float(2) - t)};
  Expr sum, value;
  for (int64_t k = 0; k < 4; ++k) {
    Expr weight = weights[k];
    if (axis.exclude_outside) {
      Expr index = low + (k - 1);
      weight = ir::MakeSelect(index >= 0 && index < axis.in, weight, Float(0));
    }
    Expr term = tap(k - 1) * weight;
    value = value.defined() ? value + term : term;
    sum = sum.defined() ? sum + weight : weight;
  }
  return axis.exclude_outside ? value / sum : value;
}

Result<FixedKernel> BuildResize(const Workload& w, const Target&) {
  const std::vector<int64_t> shape = semantics::InferOutput(w)->shape;
  const std::vector<semantics::ResizeAxis> axes = semantics::ResizeAxes(w);
  const std::string mode = semantics::Word(w, "mode", "nearest");
  std::vector<bool> whole;
  for (const semantics::ResizeAxis& axis : axes) whole.push_back(!axis.Changes());
  const Partial p = SplitWhole(w.inputs[0].shape, shape, whole);
  Tensor data = te::Placeholder("data", p.in);
  if (mode != "nearest") {
    // A stage for each axis, the outermost first: its rows are vectors of the input.
    Tensor out = data;
    std::vector<int64_t> extents = p.in;
    const size_t groups = extents.size();
    for (size_t g = 0, left = groups - static_cast<size_t>(std::ranges::count(p.axis, -1)); g < groups; ++g) {
      if (p.axis[g] < 0) continue;
      extents[g] = p.out[g];
      const std::string name = --left == 0 ? "out" : "along" + std::to_string(g);
      const auto& axis = axes[static_cast<size_t>(p.axis[g])];
      out = ElementWise(name, extents, [&, source = out](const std::vector<Expr>& x) {
        return Interpolated(source, axis, mode == "cubic", x, g);
      });
    }
    if (out.same_as(data)) out = ElementWise("out", p.out, [&](const std::vector<Expr>& x) { return data(x); });
    return FixedKernel{{{data}, {out}}, {}};
  }
  const Tensor out = ElementWise("out", p.out, [&](std::vector<Expr> at) {
    const std::vector<Expr> x = at;
    for (size_t g = 0; g < at.size(); ++g) {
      if (p.axis[g] < 0) continue;
      const semantics::ResizeAxis& axis = axes[static_cast<size_t>(p.axis[g])];
      std::vector<int64_t> indices;
      for (int64_t i = 0; i < axis.out; ++i) indices.push_back(axis.Nearest(i));
      at[g] = ir::Max(ir::Min(NearestIndex(axis, indices, x[g]), axis.in - 1), 0);
    }
    return data(at);
  });
  return FixedKernel{{{data}, {out}}, {}};
}

}  // namespace

std::vector<const Operator*> NormOperators() {
  return {
      new SketchedOperator("lrn", BuildLrn),  // never destroyed
      new SketchedOperator("instance_norm", BuildNorm),
      new SketchedOperator("layer_norm", BuildNorm),
      new SketchedOperator("resize", BuildResize),
  };
}

}  // namespace hone::op
