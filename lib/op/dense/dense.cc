#include "op/dense/dense.h"

#include "op/defined_operator.h"
#include "op/dense/dense_template.h"
#include "op/epilogue.h"
#include "op/gpu/dense.h"

namespace hone::op {
namespace {

using ir::Var;

// "out", the epilogue over the stage `sums`, both with two axes of these names.
Computation MakeDense(const Workload& w, const std::string& sums, const std::vector<std::string>& axes) {
  const int64_t n = w.inputs[0].shape[0], k = w.inputs[0].shape[1], m = w.inputs[1].shape[0];
  const te::Tensor data = te::Placeholder("data", {n, k}), weight = te::Placeholder("weight", {m, k});
  const EpilogueTensors epilogue = MakeEpilogueTensors(w, {n, m}, m, 0);
  const ir::IterVar r = te::ReduceAxis(k, "k");
  const te::Tensor sum = te::Compute(sums, {n, m}, axes, [&](const std::vector<Var>& x) {
    return te::Sum(data(x[0], r.var) * weight(x[1], r.var), {r});
  });
  const te::Tensor out = te::Compute(
      "out", {n, m}, axes, [&](const std::vector<Var>& x) { return PlainEpilogue(w, epilogue, sum(x[0], x[1]), x); });
  return {epilogue.After({data, weight}), {out}};
}

Result<Computation> CpuDense(const Workload& w, const Target&, const Algorithm&) {
  return MakeDense(w, "acc", {"n", "m"});
}
Result<Computation> GpuDense(const Workload& w, const Target&, const Algorithm&) {
  return MakeDense(w, "sums", {"i", "j"});
}

}  // namespace

const Operator& Dense() {
  static const TunedOperator op(
      "dense", [](const Workload&, const Target&) { return std::vector<const Template*>{&DensePacked()}; },
      [](const Workload& w, const Target&) { return GpuDenseTemplates(w); },
      {{kCpuFamily, {&DensePacked()}}, {kGpuFamily, {&GpuDenseRows(), &GpuDenseLarge(), &GpuDenseSmall()}}},
      {{kCpuFamily, "direct", {}, CpuDense}, {kGpuFamily, "direct", {}, GpuDense}});
  return op;
}

}  // namespace hone::op
