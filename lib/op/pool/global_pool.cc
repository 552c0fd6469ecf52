// global_avg_pool, global_max_pool (f32[N,C,..]) -> [N,C,1,..], any rank from 3; blocked with four or five axes. A NaN
// makes its channel's maximum NaN.
#include "op/defined_operator.h"
#include "op/math_te.h"
#include "op/operators.h"
#include "op/plain_schedule.h"
#include "op/reduce_te.h"
#include "op/shapes.h"
#include "op/steps.h"
#include "semantics/semantics.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

Result<FixedKernel> BuildPlain(const Workload& w, const Target& target) {
  const std::vector<int64_t>& in = w.inputs[0].shape;
  const int64_t pixels = semantics::Product(in, 2, in.size());
  const ReduceAxes axes{{in[0] * in[1], pixels}, {false, true}};
  const int lanes = target.FloatLanes();
  Tensor data = te::Placeholder("data", axes.extents);
  std::vector<Step> more;
  const bool max = w.op == "global_max_pool";
  const ir::Reducer reducer = max ? ir::Reducer::kMax : ir::Reducer::kSum;
  Tensor acc = ReduceStages(
      "acc", reducer, axes, lanes, [&](auto& at) { return data(at); }, &more);
  Tensor out = te::Compute("out", {axes.extents[0]}, {"a0"}, [&](const std::vector<Var>& x) {
    return max ? acc(x[0]) : acc(x[0]) * Float(1.0 / static_cast<double>(pixels));
  });
  std::vector<Step> steps = VectorsAlongLast("out", {"a0"}, lanes);
  Append(&steps, more);
  return FixedKernel{{{data}, {out}}, std::move(steps)};
}

Result<FixedKernel> BuildGlobalPool(const Workload& w, const Target& target) {
  const std::vector<int64_t>& in = w.inputs[0].shape;
  if (semantics::InputLayout(w, 0) == Layout::kPlain) return BuildPlain(w, target);
  const int lanes = target.ChannelBlock();
  const int64_t blocks = CeilDiv(in[1], lanes), pixels = semantics::Product(in, 2, in.size());
  const bool max = w.op == "global_max_pool";
  Tensor data = te::Placeholder("data", {in[0], blocks, pixels, lanes});
  ir::IterVar pixel = te::ReduceAxis(pixels, "x");
  Tensor acc = te::Compute("acc", {in[0], blocks, lanes}, {"n", "co", "ci"}, [&](const std::vector<Var>& i) {
    Expr value = data(i[0], i[1], pixel.var, i[2]);
    return max ? te::MaxOver(value, {pixel}) : te::Sum(value, {pixel});
  });
  Tensor out = te::Compute("out", {in[0], blocks, lanes}, {"n", "co", "ci"}, [&](const std::vector<Var>& i) {
    Expr value = acc(i[0], i[1], i[2]);
    return max ? value : value * Float(1.0 / static_cast<double>(pixels));
  });
  return FixedKernel{{{data}, {out}},
                     {Fuse("out", {"n", "co"}, "task"), Parallel("out", "task"), Vectorize("out", "ci"),
                      ComputeAt("acc", "out", "task"), SetScope("acc", "register"), Reorder("acc", {"x", "ci"}),
                      Vectorize("acc", "ci")}};
}

}  // namespace

std::vector<const Operator*> GlobalPoolOperators() {
  static const std::vector<const Operator*> operators = {
      new FixedOperator("global_avg_pool", 1, BuildGlobalPool),  // never destroyed
      new FixedOperator("global_max_pool", 2, BuildGlobalPool),
  };
  return operators;
}

}  // namespace hone::op
