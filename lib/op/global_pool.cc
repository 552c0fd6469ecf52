#include "op/global_pool.h"

#include "define/define.h"
#include "op/defined_operator.h"
#include "op/math_te.h"
#include "op/plain_schedule.h"
#include "op/reduce_te.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

Instance MakeInstance(const Tensor& data, const Tensor& out, std::vector<Step> steps) {
  Instance instance;
  instance.outputs = {out};
  instance.args = {data, out};
  instance.placeholders = {data};
  instance.steps = std::move(steps);
  return instance;
}

Expr NanOrZero(Expr x) { return ir::MakeSelect(ir::Ne(x, x), x, Float(0)); }

Result<Instance> BuildPlain(const Workload& w, const Target& target) {
  const std::vector<int64_t>& in = w.inputs[0].shape;
  const int64_t pixels = define::Product(in, 2, in.size());
  const ReduceAxes axes{{in[0] * in[1], pixels}, {false, true}};
  const int lanes = target.FloatLanes();
  Tensor data = te::Placeholder("data", axes.extents);
  std::vector<Step> sums, most_steps;
  const bool max = w.op == "global_max_pool";
  Tensor sum = ReduceStages(
      "sum", ir::Reducer::kSum, axes, lanes, [&](auto& at) { return max ? NanOrZero(data(at)) : data(at); }, &sums);
  Tensor most =
      max ? ReduceStages("most", ir::Reducer::kMax, axes, lanes, [&](auto& at) { return data(at); }, &most_steps) : sum;
  Tensor out = te::Compute("out", {axes.extents[0]}, {"a0"}, [&](const std::vector<Var>& x) {
    return max ? most(x[0]) + sum(x[0]) : sum(x[0]) * Float(1.0 / static_cast<double>(pixels));
  });
  std::vector<Step> steps = VectorsAlongLast("out", {"a0"}, lanes);
  steps.insert(steps.end(), most_steps.begin(), most_steps.end());
  steps.insert(steps.end(), sums.begin(), sums.end());
  return MakeInstance(data, out, std::move(steps));
}

Result<Instance> Build(const Workload& w, const Target& target) {
  const std::vector<int64_t>& in = w.inputs[0].shape;
  if (ActivationLayout(w.inputs[0]) == Layout::kPlain) return BuildPlain(w, target);
  const int lanes = target.FloatLanes();
  const int64_t blocks = CeilDiv(in[1], lanes), pixels = define::Product(in, 2, in.size());
  const bool max = w.op == "global_max_pool";
  Tensor data = te::Placeholder("data", {in[0], blocks, pixels, lanes});
  auto reduce = [&](const char* name, const char* axis, auto&& make) {
    ir::IterVar x = te::ReduceAxis(pixels, axis);
    return te::Compute(name, {in[0], blocks, lanes}, {"n", "co", "ci"},
                       [&](const std::vector<Var>& i) { return make(data(i[0], i[1], x.var, i[2]), x); });
  };
  Tensor acc = reduce("acc", "x", [&](Expr v, const ir::IterVar& x) { return te::Sum(max ? NanOrZero(v) : v, {x}); });
  Tensor most = max ? reduce("most", "y", [](Expr v, const ir::IterVar& x) { return te::MaxOver(v, {x}); }) : acc;
  Tensor out = te::Compute("out", {in[0], blocks, lanes}, {"n", "co", "ci"}, [&](const std::vector<Var>& i) {
    if (max) return most(i[0], i[1], i[2]) + acc(i[0], i[1], i[2]);
    return acc(i[0], i[1], i[2]) * Float(1.0 / static_cast<double>(pixels));
  });
  std::vector<Step> steps = {Fuse("out", {"n", "co"}, "task"), Parallel("out", "task"), Vectorize("out", "ci")};
  for (const char* stage : {"acc", "most"}) {
    if (stage == std::string("most") && !max) continue;
    steps.push_back(ComputeAt(stage, "out", "task"));
    steps.push_back(SetScope(stage, "register"));
    steps.push_back(Reorder(stage, {stage == std::string("acc") ? "x" : "y", "ci"}));
    steps.push_back(Vectorize(stage, "ci"));
  }
  return MakeInstance(data, out, std::move(steps));
}

}  // namespace

const Operator& GlobalAvgPool() {
  static const DefinedOperator op("global_avg_pool", 1, Build);
  return op;
}
const Operator& GlobalMaxPool() {
  static const DefinedOperator op("global_max_pool", 1, Build);
  return op;
}

}  // namespace hone::op
