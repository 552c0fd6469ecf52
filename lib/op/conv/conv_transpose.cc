// conv_transpose2d, conv_transpose3d (x[N,C,..], weight[C,O/groups,K..], stride=, pad=, dilation=, groups=,
// output_pad=0): the gradient of a convolution. Plain.
//
// Zeros are inserted between the input's elements, then it is convolved with the reversed weight; the outputs of 4
// channels share their reads.
#include "op/defined_operator.h"
#include "op/operators.h"
#include "op/plain_te.h"
#include "op/steps.h"
#include "semantics/semantics.h"
#include "semantics/window.h"

namespace hone::op {

static Result<FixedKernel> BuildTransposed(const Workload& w, const Target& target) {
  const std::vector<int64_t>&in = w.inputs[0].shape, &weights = w.inputs[1].shape;
  const semantics::Window win = *semantics::TransposedWindowOf(w);
  const size_t rank = win.rank();
  const int lanes = target.FloatLanes();
  const int64_t groups = semantics::Whole(w, "groups", 1), og = weights[1], channels = in[1] / groups;
  const std::vector<int64_t> shape = semantics::InferOutput(w)->shape;
  Tensor data = te::Placeholder("data", in), weight = te::Placeholder("data1", weights);

  // Element q of an axis is at position q - ((kernel-1)*dilation - before) of the spread input.
  std::vector<int64_t> up_shape = {in[0], in[1]}, shift(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t reach = (win.kernel[i] - 1) * win.dilation[i];
    up_shape.push_back(win.out[i] + reach);
    shift[i] = reach - win.before[i];
  }
  const std::vector<std::string> names = AxisNames(rank + 2);
  Tensor up = te::Compute("up", up_shape, names, [&](const Vars& x) {
    Expr inside;
    std::vector<Expr> at = {x[0], x[1]};
    for (size_t i = 0; i < rank; ++i) {
      Expr place = x[2 + i] - shift[i], index = place / win.stride[i];
      Expr here = index >= 0 && index < win.in[i];
      if (win.stride[i] > 1) here = here && ir::Eq(place - index * win.stride[i], 0);
      inside = inside.defined() ? inside && here : here;
      at.push_back(ir::Max(ir::Min(index, win.in[i] - 1), 0));
    }
    return ir::MakeSelect(inside, data(at), Float(0));
  });
  std::vector<ir::IterVar> reduce = {te::ReduceAxis(channels, "c")};
  std::vector<std::string> inner = {"c"};
  for (size_t i = 0; i < rank; ++i) {
    inner.push_back("k" + std::to_string(i));
    reduce.push_back(te::ReduceAxis(win.kernel[i], inner.back()));
  }
  Tensor out = te::Compute("out", shape, names, [&](const Vars& x) {
    Expr c = x[1] / og * channels + reduce[0].var;
    std::vector<Expr> at = {x[0], c}, tap = {c, x[1] % og};
    for (size_t i = 0; i < rank; ++i) {
      at.push_back(x[2 + i] + (Expr(win.kernel[i] - 1) - reduce[1 + i].var) * win.dilation[i]);
      tap.push_back(reduce[1 + i].var);
    }
    return te::Sum(up(at) * weight(tap), reduce);
  });
  FixedKernel kernel{{{data, weight}, {out}}, {}};
  kernel.steps = {Split("out", "a1", {4}, {"o.o", "o.i"}), Split("out", names.back(), {lanes}, {"v.o", "v.i"})};
  std::vector<std::string> order = {"a0", "o.o"};
  for (size_t i = 2; i + 1 < names.size(); ++i) order.push_back(names[i]);
  const std::vector<std::string> parallel = order;
  order.push_back("v.o");
  order.insert(order.end(), inner.begin(), inner.end());
  order.push_back("o.i"), order.push_back("v.i");
  Append(&kernel.steps, {Reorder("out", order), Vectorize("out", "v.i"), Unroll("out", "o.i"),
                         Fuse("out", parallel, "task"), Parallel("out", "task")});
  Append(&kernel.steps, VectorsAlongLast("up", names, up_shape, lanes));
  return kernel;
}

std::vector<const Operator*> TransposedConvOperators() {
  return {
      new FixedOperator("conv_transpose2d", 2, BuildTransposed),  // never destroyed
      new FixedOperator("conv_transpose3d", 2, BuildTransposed),
  };
}

}  // namespace hone::op
