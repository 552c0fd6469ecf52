#include "op/softmax.h"

#include <algorithm>
#include <cmath>

#include "op/shapes.h"
#include "op/simple_operator.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

// Both reductions go lane by lane first, so that they run in vectors; the last vector repeats the last element in the
// maximum, and is masked in the sum.
Result<Instance> Build(const Workload& w, const Target& target) {
  int64_t n = w.inputs[0].shape[0], k = w.inputs[0].shape[1];
  int lanes = static_cast<int>(std::min<int64_t>(target.FloatLanes(), k));
  int64_t steps = CeilDiv(k, lanes);
  Tensor data = te::Placeholder("data", {n, k});
  auto at = [&](const ir::IterVar& step, const Expr& lane) { return step.var * lanes + lane; };
  ir::IterVar i = te::ReduceAxis(steps, "i"), l = te::ReduceAxis(lanes, "l");
  Tensor max_lane = te::Compute("max_lane", {n, lanes}, {"n", "v"}, [&](const std::vector<Var>& x) {
    Expr index = k % lanes == 0 ? at(i, x[1]) : ir::Min(at(i, x[1]), k - 1);
    return te::MaxOver(data(x[0], index), {i});
  });
  Tensor max_all = te::Compute("max_all", {n}, {"n"},
                               [&](const std::vector<Var>& x) { return te::MaxOver(max_lane(x[0], l.var), {l}); });
  Tensor power = te::Compute("power", {n, k}, {"n", "k"},
                             [&](const std::vector<Var>& x) { return te::Exp(data(x[0], x[1]) - max_all(x[0])); });
  ir::IterVar j = te::ReduceAxis(steps, "j"), m = te::ReduceAxis(lanes, "m");
  Tensor sum_lane = te::Compute("sum_lane", {n, lanes}, {"n", "v"}, [&](const std::vector<Var>& x) {
    Expr index = at(j, x[1]);
    if (k % lanes == 0) return te::Sum(power(x[0], index), {j});
    return te::Sum(ir::MakeSelect(index < k, power(x[0], ir::Min(index, k - 1)), ir::Imm(DType::Float(32), 0)), {j});
  });
  Tensor scale = te::Compute("sum_all", {n}, {"n"},
                             [&](const std::vector<Var>& x) { return te::Sum(sum_lane(x[0], m.var), {m}); });
  Tensor out = te::Compute("out", {n, k}, {"n", "k"},
                           [&](const std::vector<Var>& x) { return power(x[0], x[1]) / scale(x[0]); });
  Instance instance;
  instance.outputs = {out};
  instance.args = {data, out};
  instance.placeholders = {data};
  // Consumers first: a stage can only move to where its readers already are.
  for (const char* stage : {"sum_all", "sum_lane", "power", "max_all", "max_lane"}) {
    instance.steps.push_back(ComputeAt(stage, "out", "n"));
  }
  instance.steps.push_back(Reorder("max_lane", {"i", "v"}));
  instance.steps.push_back(Reorder("sum_lane", {"j", "v"}));
  instance.steps.push_back(Vectorize("max_lane", "v"));
  instance.steps.push_back(Vectorize("sum_lane", "v"));
  for (const char* stage : {"power", "out"}) {
    instance.steps.push_back(Split(stage, "k", {lanes}, {"k.o", "k.i"}));
    instance.steps.push_back(Vectorize(stage, "k.i"));
  }
  instance.steps.push_back(Parallel("out", "n"));
  return instance;
}

class SoftmaxOperator final : public SimpleOperator {
 public:
  SoftmaxOperator() : SimpleOperator("softmax", 1, Build) {}

  Status Check(const Workload& w) const override {
    HONE_RETURN_IF_ERROR(CheckInputs(w, 1));
    HONE_RETURN_IF_ERROR(CheckRank(w, 0, 2));
    HONE_RETURN_IF_ERROR(CheckAttributeNames(w, {}));
    return CheckNoEpilogue(w);
  }
  TensorType OutputType(const Workload& w) const override { return w.inputs[0]; }

 protected:
  double FlopPerOutput(const Workload&) const override { return 5; }
  std::vector<double> Evaluate(const Workload& w, const std::vector<std::vector<double>>& inputs) const override {
    int64_t k = w.inputs[0].shape[1];
    std::vector<double> out = inputs[0];
    for (size_t row = 0; row < out.size(); row += k) {
      double most = *std::max_element(out.begin() + row, out.begin() + row + k), sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += out[row + i] = std::exp(out[row + i] - most);
      for (int64_t i = 0; i < k; ++i) out[row + i] /= sum;
    }
    return out;
  }
};

}  // namespace

const Operator& Softmax() {
  static const SoftmaxOperator op;
  return op;
}

}  // namespace hone::op
