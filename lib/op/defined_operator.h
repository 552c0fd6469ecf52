// An operator whose attributes, shape and values lib/semantics has: only how it is built is left.
#pragma once

#include <string>

#include "op/simple_operator.h"

namespace hone::op {

class DefinedOperator : public SimpleOperator {
 public:
  using SimpleOperator::SimpleOperator;

  Status Check(const Workload& workload) const override;
  Workload Canonical(const Workload& workload) const override;
  TensorType OutputType(const Workload& workload) const override;
  double Flop(const Workload& workload) const override;
  bool HasBatch(const Workload& workload) const override;

 protected:
  std::vector<double> Evaluate(const Workload& workload, const std::vector<std::vector<double>>& inputs) const override;
  double FlopPerOutput(const Workload&) const override { return 0; }
  Layout InputLayout(const Workload& workload, size_t i) const override;
  Layout OutputLayout(const Workload& workload) const override;
};

}  // namespace hone::op
