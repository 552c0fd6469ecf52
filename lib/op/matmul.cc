// matmul(f32[..,M,K], f32[..,K,N]): numpy's matmul; batches broadcast, vectors are a row on the left and a column on
// the right. Plain. On CPUs the schedule is a sketch (sketch/sums.h), except that a single column is reduced in vectors
// along K.
#include "op/gpu/matmul.h"

#include "op/defined_operator.h"
#include "op/operators.h"
#include "op/plain_te.h"
#include "semantics/indices.h"
#include "semantics/semantics.h"

namespace hone::op {
namespace {

Result<FixedKernel> BuildMatmul(const Workload& w, const Target& target) {
  const semantics::Matmul p = *semantics::MatmulOf(w);
  const int lanes = target.FloatLanes();
  std::vector<std::vector<bool>> patterns(2);
  for (size_t i = 0; i < p.batch.size(); ++i) {
    patterns[0].push_back(p.a_batch[i] == p.batch[i]);
    patterns[1].push_back(p.b_batch[i] == p.batch[i]);
  }
  const AxisGroups groups = GroupAxes(p.batch, patterns);
  const size_t batch = groups.extents.size();
  auto operand = [&](const char* name, size_t i, int64_t rows, int64_t columns) {
    std::vector<int64_t> shape;
    for (size_t g = 0; g < batch; ++g) shape.push_back(groups.patterns[i][g] ? groups.extents[g] : 1);
    shape.push_back(rows), shape.push_back(columns);
    return te::Placeholder(name, shape);
  };
  Tensor a = operand("data", 0, p.m, p.k), b = operand("data1", 1, p.k, p.n);
  auto read = [&](const Tensor& t, const std::vector<Expr>& at, Expr row, Expr column) {
    std::vector<Expr> index;
    for (size_t g = 0; g < batch; ++g) index.push_back(t.shape()[g] == 1 ? Expr(0) : at[g]);
    index.push_back(row), index.push_back(column);
    return t(index);
  };
  FixedKernel kernel{{{a, b}, {}}, {}};
  std::vector<std::string> names = AxisNames(batch);
  if (p.n == 1) {
    ReduceAxes axes{groups.extents, std::vector<bool>(batch, false)};
    axes.extents.push_back(p.m), axes.reduced.push_back(false);
    axes.extents.push_back(p.k), axes.reduced.push_back(true);
    Tensor out = ReduceStages(
        "out", ir::Reducer::kSum, axes, lanes,
        [&](const std::vector<Expr>& at) {
          return read(a, at, at[batch], at[batch + 1]) * read(b, at, at[batch + 1], 0);
        },
        &kernel.steps);
    kernel.outputs = {out};
  } else {
    ir::IterVar k = te::ReduceAxis(p.k, "k");
    std::vector<int64_t> shape = groups.extents;
    shape.push_back(p.m), shape.push_back(p.n);
    std::vector<std::string> axes = names;
    axes.push_back("i"), axes.push_back("j");
    Tensor out = te::Compute("out", shape, axes, [&](const Vars& x) {
      const std::vector<Expr> at(x.begin(), x.end());
      return te::Sum(read(a, at, at[batch], k.var) * read(b, at, k.var, at[batch + 1]), {k});
    });
    kernel.outputs = {out};
  }
  return kernel;
}

class MatmulOperator final : public FixedOperator {
 public:
  using FixedOperator::FixedOperator;

  std::vector<const Template*> Templates(const Workload& workload, const Target& target) const override {
    std::vector<const Template*> templates = FixedOperator::Templates(workload, target);
    if (target.family() == kGpuFamily && GpuBatchMatmulApplies(workload, target)) {
      templates.insert(templates.begin(), &GpuBatchMatmul());
    }
    return templates;
  }
  TemplateList AllTemplates() const override {
    TemplateList all = FixedOperator::AllTemplates();
    all[kGpuFamily].push_back(&GpuBatchMatmul());
    return all;
  }
  Result<Computation> Compute(const Workload& workload, const Target& target,
                              const Algorithm& algorithm) const override {
    if (algorithm.name == "direct") return FixedOperator::Compute(workload, target, algorithm);
    return ComputeBy({{kGpuFamily, "batches", {}, ComputeGpuBatchMatmul}}, workload, target, algorithm);
  }
};

}  // namespace

const Operator& Matmul() {
  static const MatmulOperator op("matmul", 1, BuildMatmul);
  return op;
}

}  // namespace hone::op
