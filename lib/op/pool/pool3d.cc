#include "op/pool/pool3d.h"

#include <limits>

#include "op/defined_operator.h"
#include "op/index_te.h"
#include "op/math_te.h"
#include "op/pool/pool_te.h"
#include "op/shapes.h"
#include "semantics/window.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

// One task is a row of one block of channels; it makes the padded input of its windows, then reads without a condition.
Result<Instance> BuildPool3d(const Workload& w, const Target& target) {
  const semantics::Window win = *semantics::WindowOf(w, semantics::Expanded(w, "kernel", 3, 1));
  const bool max = w.op == "max_pool3d", include_pad = semantics::Whole(w, "count_include_pad", 0) != 0;
  const int lanes = target.FloatLanes();
  const std::vector<int64_t>& in = w.inputs[0].shape;
  Tensor data = te::Placeholder("data", BlockedShape(in, lanes));
  bool padded = false;
  std::vector<int64_t> padded_shape = data.shape();
  for (size_t i = 0; i < 3; ++i) {
    padded = padded || win.before[i] > 0 || win.reach(i) > win.in[i];
    padded_shape[2 + i] = win.reach(i);
  }
  Tensor source = data;
  if (padded) {
    source = te::Compute("pad", padded_shape, {"n", "co", "id", "ih", "iw", "ci"}, [&](const std::vector<Var>& x) {
      Expr inside;
      std::vector<Expr> at(x.begin(), x.end());
      for (size_t i = 0; i < 3; ++i) {
        at[2 + i] = x[2 + i] - win.before[i];
        Expr condition = at[2 + i] >= 0 && at[2 + i] < win.in[i];
        inside = inside.defined() ? inside && condition : condition;
      }
      return te::IfThenElse(inside, data(at), Float(max ? -std::numeric_limits<double>::infinity() : 0));
    });
  }
  const std::vector<int64_t> shape = BlockedShape({in[0], in[1], win.out[0], win.out[1], win.out[2]}, lanes);
  const std::vector<std::string> axes = {"n", "co", "od", "oh", "ow", "ci"};
  std::vector<ir::IterVar> k = {te::ReduceAxis(win.kernel[0], "kd"), te::ReduceAxis(win.kernel[1], "kh"),
                                te::ReduceAxis(win.kernel[2], "kw")};
  Tensor acc = te::Compute("acc", shape, axes, [&](const std::vector<Var>& x) {
    std::vector<Expr> at(x.begin(), x.end());
    for (size_t i = 0; i < 3; ++i) at[2 + i] = x[2 + i] * win.stride[i] + k[i].var * win.dilation[i];
    return max ? te::MaxOver(source(at), k) : te::Sum(source(at), k);
  });
  Tensor out = te::Compute("out", shape, axes, [&](const std::vector<Var>& x) {
    Expr value = acc(std::vector<Expr>(x.begin(), x.end()));
    if (max) return win.MaySeePaddingAlone() ? ZeroBeyondChannels(value, x, in[1], lanes) : value;
    Expr count;
    for (size_t i = 0; i < 3; ++i) {
      const int64_t low = include_pad ? 0 : win.before[i];
      const int64_t high = win.before[i] + win.in[i] + (include_pad ? win.after[i] : 0);
      Expr part = Covered(x[2 + i] * win.stride[i], win.kernel[i], win.dilation[i], low, high);
      count = count.defined() ? count * part : part;
    }
    return value * (Float(1) / ir::MakeCast(DType::Float(32), ir::Max(count, 1)));
  });
  Instance instance;
  instance.outputs = {out};
  instance.args = {data, out};
  instance.placeholders = {data};
  instance.steps = {
      Split("out", "ow", {8}, {"ow.o", "ow.i"}),
      Fuse("out", {"n", "co", "od", "oh"}, "task"),
      Parallel("out", "task"),
      Vectorize("out", "ci"),
      Unroll("out", "ow.i"),
      ComputeAt("acc", "out", "ow.o"),
      SetScope("acc", "register"),
      Reorder("acc", {"kd", "kh", "kw", "ow", "ci"}),
      Vectorize("acc", "ci"),
      Unroll("acc", "ow"),
  };
  if (padded) {
    instance.steps.push_back(ComputeAt("pad", "out", "task"));
    instance.steps.push_back(Vectorize("pad", "ci"));
  }
  return instance;
}

}  // namespace

const Operator& MaxPool3d() {
  static const FixedOperator op("max_pool3d", 1, BuildPool3d);
  return op;
}
const Operator& AvgPool3d() {
  static const FixedOperator op("avg_pool3d", 1, BuildPool3d);
  return op;
}

}  // namespace hone::op
