#include "op/dense/dense.h"

#include "op/defined_operator.h"
#include "op/dense/dense_template.h"
#include "op/gpu/dense.h"

namespace hone::op {

const Operator& Dense() {
  static const TunedOperator op(
      "dense", [](const Workload&, const Target&) { return std::vector<const Template*>{&DensePacked()}; },
      [](const Workload& w, const Target&) { return GpuDenseTemplates(w); },
      {{kCpuFamily, {&DensePacked()}}, {kGpuFamily, {&GpuDenseRows(), &GpuDenseLarge(), &GpuDenseSmall()}}});
  return op;
}

}  // namespace hone::op
