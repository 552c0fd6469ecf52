// reduce_sum, _mean, _max, _min, _prod, _sum_square, _l1, _l2, _log_sum, _log_sum_exp (f32[..], axes=all, keep=0);
// log_softmax and softmax along any axis. Plain, any rank.
//
// A NaN anywhere makes the result NaN, in maxima too. A product is exp(sum of log|x|) with the sign of the count of
// negative factors: within 1e-6 relative times the number of factors' logarithms.
#include <algorithm>
#include <functional>

#include "op/defined_operator.h"
#include "op/operators.h"
#include "op/plain_te.h"
#include "semantics/indices.h"

namespace hone::op {

using ir::Intrinsic;

// Neighbouring axes that are all kept or all reduced are one. There is at least one of each kind.
static ReduceAxes AxesOf(const Workload& w) {
  const AxisGroups groups = GroupAxes(w.inputs[0].shape, {semantics::ReducedAxes(w)});
  ReduceAxes axes{groups.extents, groups.patterns[0]};
  for (const bool reduced : {false, true}) {
    if (std::count(axes.reduced.begin(), axes.reduced.end(), reduced) > 0) continue;
    axes.extents.insert(axes.extents.begin(), 1);
    axes.reduced.insert(axes.reduced.begin(), reduced);
  }
  return axes;
}

static Result<FixedKernel> BuildReduce(const Workload& w, const Target&) {
  const ReduceAxes axes = AxesOf(w);
  const Tensor data = te::Placeholder("data", axes.extents);
  using At = const std::vector<Expr>&;
  const auto sum = [&](const char* name, const std::function<Expr(At)>& f) {
    return ReduceOver(name, ir::Reducer::kSum, axes, f);
  };
  const auto read = [&](At at) { return data(at); };
  const auto finish = [&](const std::function<Expr(At)>& f) -> Result<FixedKernel> {
    return FixedKernel{{{data}, {ElementWise("out", axes.Kept(), f)}}, {}};
  };
  const std::string& op = w.op;
  if (op == "reduce_max" || op == "reduce_min") {
    const ir::Reducer reducer = op == "reduce_max" ? ir::Reducer::kMax : ir::Reducer::kMin;
    return FixedKernel{{{data}, {ReduceOver("out", reducer, axes, read)}}, {}};
  }
  if (op == "reduce_prod") {
    const Tensor logs =
        sum("logs", [&](At at) { return CallMath(Intrinsic::kLog, CallMath(Intrinsic::kAbs, data(at))); });
    const Tensor negatives =
        sum("negatives", [&](At at) { return ir::MakeSelect(data(at) < Float(0), Float(1), Float(0)); });
    return finish([&](At at) {
      Expr half = negatives(at) * Float(0.5);
      Expr magnitude = CallMath(Intrinsic::kExp, logs(at));
      return ir::MakeSelect(half > CallMath(Intrinsic::kFloor, half), Float(0) - magnitude, magnitude);
    });
  }
  if (op == "reduce_log_sum_exp") {
    const Tensor most = ReduceOver("most", ir::Reducer::kMax, axes, read);
    const Tensor finite = ElementWise("finite", axes.Kept(), [&](At at) {
      return ir::MakeSelect(CallMath(Intrinsic::kAbs, most(at)) < Float(3e38), most(at), Float(0));
    });
    const Tensor total =
        sum("total", [&](At at) { return CallMath(Intrinsic::kExp, data(at) - finite(axes.KeptOf(at))); });
    return finish([&](At at) { return CallMath(Intrinsic::kLog, total(at)) + finite(at); });
  }
  const auto term = [&](At at) {
    if (op == "reduce_sum_square" || op == "reduce_l2") return data(at) * data(at);
    return op == "reduce_l1" ? CallMath(Intrinsic::kAbs, data(at)) : data(at);
  };
  if (op == "reduce_sum" || op == "reduce_sum_square" || op == "reduce_l1") {
    return FixedKernel{{{data}, {sum("out", term)}}, {}};
  }
  const Tensor total = sum("total", term);
  const double count =
      static_cast<double>(semantics::Product(axes.extents)) / static_cast<double>(semantics::Product(axes.Kept()));
  return finish([&](At at) {
    if (op == "reduce_mean") return total(at) * Float(1 / count);
    return CallMath(op == "reduce_l2" ? Intrinsic::kSqrt : Intrinsic::kLog, total(at));
  });
}

static Result<FixedKernel> BuildSoftmax(const Workload& w, const Target&) {
  const std::vector<int64_t>& shape = w.inputs[0].shape;
  const size_t axis = static_cast<size_t>(semantics::Whole(w, "axis", static_cast<int64_t>(shape.size()) - 1));
  ReduceAxes axes{{semantics::Product(shape, 0, axis), shape[axis]}, {false, true}};
  const int64_t inner = semantics::Product(shape, axis + 1, shape.size());
  if (inner > 1) axes.extents.push_back(inner), axes.reduced.push_back(false);
  const Tensor data = te::Placeholder("data", axes.extents);
  using At = const std::vector<Expr>&;
  const Tensor most = ReduceOver("most", ir::Reducer::kMax, axes, [&](At at) { return data(at); });
  const auto shifted = [&](At at) { return data(at) - most(axes.KeptOf(at)); };
  const Tensor power = ElementWise("power", axes.extents, [&](At at) { return te::Exp(shifted(at)); });
  const Tensor total = ReduceOver("total", ir::Reducer::kSum, axes, [&](At at) { return power(at); });
  const bool log = w.op == "log_softmax";
  const Tensor norm = ElementWise(
      "norm", axes.Kept(), [&](At at) { return log ? CallMath(Intrinsic::kLog, total(at)) : Float(1) / total(at); });
  const Tensor out = ElementWise("out", axes.extents, [&](At at) {
    const Expr by = norm(axes.KeptOf(at));
    return log ? shifted(at) - by : power(at) * by;
  });
  return FixedKernel{{{data}, {out}}, {}};
}

std::vector<const Operator*> ReduceOperators() {
  std::vector<const Operator*> all;
  for (const char* name : {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_sum_square",
                           "reduce_l1", "reduce_l2", "reduce_log_sum", "reduce_log_sum_exp"}) {
    all.push_back(new SketchedOperator(name, BuildReduce));  // never destroyed
  }
  for (const char* name : {"softmax", "log_softmax"}) all.push_back(new SketchedOperator(name, BuildSoftmax));
  return all;
}

}  // namespace hone::op
