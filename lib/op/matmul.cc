// matmul(f32[..,M,K], f32[..,K,N]): numpy's matmul; batches broadcast, vectors are a row on the left and a column on
// the right. Plain. On CPUs the schedule is a sketch: tiles of sums (sketch/sums.h), or for a single column the rows
// (sketch/rows.h).
#include "op/gpu/matmul.h"

#include "op/defined_operator.h"
#include "op/operators.h"
#include "op/plain_te.h"
#include "semantics/indices.h"
#include "semantics/semantics.h"

namespace hone::op {
namespace {

Result<FixedKernel> BuildMatmul(const Workload& w, const Target&) {
  const semantics::Matmul p = *semantics::MatmulOf(w);
  std::vector<std::vector<bool>> patterns(2);
  for (size_t i = 0; i < p.batch.size(); ++i) {
    patterns[0].push_back(p.a_batch[i] == p.batch[i]);
    patterns[1].push_back(p.b_batch[i] == p.batch[i]);
  }
  const AxisGroups groups = GroupAxes(p.batch, patterns);
  const size_t batch = groups.extents.size();
  auto operand = [&](const char* name, size_t i, std::vector<int64_t> matrix) {
    std::vector<int64_t> shape;
    for (size_t g = 0; g < batch; ++g) shape.push_back(groups.patterns[i][g] ? groups.extents[g] : 1);
    shape.insert(shape.end(), matrix.begin(), matrix.end());
    return te::Placeholder(name, shape);
  };
  const std::vector<int64_t> right = p.n > 1 ? std::vector<int64_t>{p.k, p.n} : std::vector<int64_t>{p.k};
  const Tensor a = operand("data", 0, {p.m, p.k}), b = operand("data1", 1, right);
  auto read = [&](const Tensor& t, const std::vector<Expr>& at, const std::vector<Expr>& element) {
    std::vector<Expr> index;
    for (size_t g = 0; g < batch; ++g) index.push_back(t.shape()[g] == 1 ? Expr(0) : at[g]);
    index.insert(index.end(), element.begin(), element.end());
    return t(index);
  };
  std::vector<int64_t> shape = groups.extents;
  std::vector<std::string> names = AxisNames(batch);
  const ir::IterVar k = te::ReduceAxis(p.k, "k");
  shape.push_back(p.m), names.push_back("i");
  if (p.n > 1) shape.push_back(p.n), names.push_back("j");
  const Tensor out = te::Compute("out", shape, names, [&](const Vars& x) {
    const std::vector<Expr> at(x.begin(), x.end());
    const Expr column = p.n > 1 ? read(b, at, {k.var, at.back()}) : read(b, at, {k.var});
    return te::Sum(read(a, at, {at[batch], k.var}) * column, {k});
  });
  return FixedKernel{{{a, b}, {out}}, {}};
}

class MatmulOperator final : public SketchedOperator {
 public:
  using SketchedOperator::SketchedOperator;

  std::vector<const Template*> Templates(const Workload& workload, const Target& target) const override {
    if (target.family() == kGpuFamily && GpuBatchMatmulApplies(workload, target)) return {&GpuBatchMatmul()};
    return {};
  }
  TemplateList AllTemplates() const override { return {{kGpuFamily, {&GpuBatchMatmul()}}}; }
  Result<Computation> Compute(const Workload& workload, const Target& target,
                              const Algorithm& algorithm) const override {
    if (algorithm.name == "direct") return SketchedOperator::Compute(workload, target, algorithm);
    return ComputeBy({{kGpuFamily, "batches", {}, ComputeGpuBatchMatmul}}, workload, target, algorithm);
  }
};

}  // namespace

const Operator& Matmul() {
  static const MatmulOperator op("matmul", BuildMatmul);
  return op;
}

}  // namespace hone::op
