// An operator whose attributes, shape and values lib/define has: only how it is stored and built is left.
#pragma once

#include <string>

#include "op/simple_operator.h"

namespace hone::op {

// How a defined operator stores its tensors.
enum class Storing {
  kPlain,       // all row-major
  kBlocked,     // activations of rank 4 and 5 blocked
  kByLayout,    // blocked, unless the workload says layout=plain; inputs of another rank than the output's are plain
};

class DefinedOperator : public SimpleOperator {
 public:
  DefinedOperator(std::string name, int version, FixedTemplate::Builder builder, Storing storing)
      : SimpleOperator(std::move(name), version, builder), storing_(storing) {}

  Status Check(const Workload& workload) const override;
  Workload Canonical(const Workload& workload) const override;
  TensorType OutputType(const Workload& workload) const override;
  double Flop(const Workload& workload) const override;

 protected:
  std::vector<double> Evaluate(const Workload& workload, const std::vector<std::vector<double>>& inputs) const override;
  double FlopPerOutput(const Workload&) const override { return 0; }
  Layout InputLayout(const Workload& workload, size_t i) const override;
  Layout OutputLayout(const Workload& workload) const override;

 private:
  Storing storing_;
};

}  // namespace hone::op
