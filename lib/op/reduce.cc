// reduce_sum, _mean, _max, _min, _prod, _sum_square, _l1, _l2, _log_sum, _log_sum_exp (f32[..], axes=all, keep=0);
// log_softmax and softmax along any axis. Plain, any rank.
//
// A NaN anywhere makes the result NaN, in maxima too. A product is exp(sum of log|x|) with the sign of the count of
// negative factors: within 1e-6 relative times the number of factors' logarithms.
#include <functional>

#include "op/defined_operator.h"
#include "op/operators.h"
#include "op/plain_te.h"
#include "op/steps.h"
#include "semantics/indices.h"

namespace hone::op {

using ir::Intrinsic;

// Fuses neighbouring axes that are all kept or all reduced.
static ReduceAxes AxesOf(const Workload& w) {
  const AxisGroups groups = GroupAxes(w.inputs[0].shape, {semantics::ReducedAxes(w)});
  return {groups.extents, groups.patterns[0]};
}

static Result<FixedKernel> BuildReduce(const Workload& w, const Target& target) {
  const int lanes = target.FloatLanes();
  ReduceAxes axes = AxesOf(w);
  Tensor data = te::Placeholder("data", axes.extents);
  std::vector<std::vector<Step>> parts;  // one list per reduction; consumers come first
  auto reduce = [&](const char* name, ir::Reducer reducer, const std::function<Expr(const std::vector<Expr>&)>& f) {
    parts.emplace_back();
    return ReduceStages(name, reducer, axes, lanes, f, &parts.back());
  };
  auto sum = [&](const char* name, const std::function<Expr(const std::vector<Expr>&)>& f) {
    return reduce(name, ir::Reducer::kSum, f);
  };
  using At = const std::vector<Expr>&;
  auto read = [&](At at) { return data(at); };
  std::function<Expr(At)> finish;
  const std::string& op = w.op;
  const double count =
      static_cast<double>(w.inputs[0].Elements()) / static_cast<double>(semantics::Product(axes.Kept()));
  if (op == "reduce_max" || op == "reduce_min") {
    Tensor most = reduce("most", op == "reduce_max" ? ir::Reducer::kMax : ir::Reducer::kMin, read);
    finish = [=](At at) { return most(at); };
  } else if (op == "reduce_prod") {
    Tensor logs = sum("logs", [&](At at) { return CallMath(Intrinsic::kLog, CallMath(Intrinsic::kAbs, data(at))); });
    Tensor negatives = sum("negatives", [&](At at) { return ir::MakeSelect(data(at) < Float(0), Float(1), Float(0)); });
    finish = [=](At at) {
      Expr half = negatives(at) * Float(0.5);
      Expr magnitude = CallMath(Intrinsic::kExp, logs(at));
      return ir::MakeSelect(half > CallMath(Intrinsic::kFloor, half), Float(0) - magnitude, magnitude);
    };
  } else if (op == "reduce_log_sum_exp") {
    Tensor most = reduce("most", ir::Reducer::kMax, read);
    auto finite = [=](At at) {
      return ir::MakeSelect(CallMath(Intrinsic::kAbs, most(at)) < Float(3e38), most(at), Float(0));
    };
    Tensor total =
        sum("total", [&](At at) { return CallMath(Intrinsic::kExp, data(at) - finite(KeptIndex(axes, at))); });
    finish = [=](At at) { return CallMath(Intrinsic::kLog, total(at)) + finite(at); };
  } else {
    Tensor total = sum("total", [&](At at) {
      if (op == "reduce_sum_square" || op == "reduce_l2") return data(at) * data(at);
      return op == "reduce_l1" ? CallMath(Intrinsic::kAbs, data(at)) : data(at);
    });
    finish = [=](At at) {
      if (op == "reduce_mean") return total(at) * Float(1 / count);
      if (op == "reduce_l2") return CallMath(Intrinsic::kSqrt, total(at));
      return op == "reduce_log_sum" ? CallMath(Intrinsic::kLog, total(at)) : total(at);
    };
  }
  const std::vector<int64_t> kept = axes.Kept();
  const std::vector<std::string> names = AxisNames(kept.size());
  Tensor out =
      te::Compute("out", kept, names, [&](const Vars& x) { return finish(std::vector<Expr>(x.begin(), x.end())); });
  std::vector<Step> steps = VectorsAlongLast("out", names, kept, lanes);
  for (size_t i = parts.size(); i-- > 0;) Append(&steps, parts[i]);
  return FixedKernel{{{data}, {out}}, std::move(steps)};
}

static Result<FixedKernel> BuildSoftmax(const Workload& w, const Target& target) {
  const int lanes = target.FloatLanes();
  const std::vector<int64_t>& shape = w.inputs[0].shape;
  const size_t axis = static_cast<size_t>(semantics::Whole(w, "axis", static_cast<int64_t>(shape.size()) - 1));
  ReduceAxes axes{{semantics::Product(shape, 0, axis), shape[axis]}, {false, true}};
  const int64_t inner = semantics::Product(shape, axis + 1, shape.size());
  if (inner > 1) axes.extents.push_back(inner), axes.reduced.push_back(false);
  Tensor data = te::Placeholder("data", axes.extents);
  std::vector<Step> most_steps, total_steps;
  Tensor most = ReduceStages(
      "most", ir::Reducer::kMax, axes, lanes, [&](auto& at) { return data(at); }, &most_steps);
  auto shifted = [=](const std::vector<Expr>& at) { return data(at) - most(KeptIndex(axes, at)); };
  const bool log = w.op == "log_softmax";
  const std::vector<std::string> names = AxisNames(axes.extents.size());
  Tensor power = te::Compute("power", axes.extents, names,
                             [&](const Vars& x) { return te::Exp(shifted(std::vector<Expr>(x.begin(), x.end()))); });
  Tensor total = ReduceStages(
      "total", ir::Reducer::kSum, axes, lanes, [&](auto& at) { return power(at); }, &total_steps);
  Tensor out = te::Compute("out", axes.extents, names, [&](const Vars& x) {
    const std::vector<Expr> at(x.begin(), x.end());
    Expr sum = total(KeptIndex(axes, at));
    return log ? shifted(at) - CallMath(Intrinsic::kLog, sum) : power(at) / sum;
  });
  std::vector<Step> steps = VectorsAlongLast("out", names, axes.extents, lanes);
  Append(&steps, total_steps);
  Append(&steps, VectorsAlongLast("power", names, axes.extents, lanes));
  Append(&steps, most_steps);
  return FixedKernel{{{data}, {out}}, std::move(steps)};
}

std::vector<const Operator*> ReduceOperators() {
  std::vector<const Operator*> all;
  for (const char* name : {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_sum_square",
                           "reduce_l1", "reduce_l2", "reduce_log_sum", "reduce_log_sum_exp"}) {
    const bool most = name == std::string("reduce_max") || name == std::string("reduce_min");
    all.push_back(new FixedOperator(name, most ? 3 : 2, BuildReduce));  // never destroyed
  }
  for (const char* name : {"softmax", "log_softmax"}) all.push_back(new FixedOperator(name, 3, BuildSoftmax));
  return all;
}

}  // namespace hone::op
