// What most untuned operators share: data operands only, plus those of an epilogue; one fixed template; not a tuning
// task.
#pragma once

#include <string>
#include <vector>

#include "op/fixed_template.h"
#include "op/gpu/plain.h"
#include "op/operator.h"

namespace hone::op {

// Steps for a stage "out" with axes n, co, `axis`.., ci: vectors along ci, and a parallel loop over n and co, and
// pieces of `axis` (of `extent`) where `tasks` = n * co alone would not keep `threads` evenly busy.
std::vector<Step> SpreadOut(int64_t tasks, const std::string& axis, int64_t extent, int threads);

class SimpleOperator : public Operator {
 public:
  // Names the operator; its template is "<name>_default", on GPUs "<name>_gpu".
  SimpleOperator(std::string name, int version, FixedTemplate::Builder builder);

  const char* name() const override { return name_.c_str(); }
  Workload Canonical(const Workload& workload) const override { return workload; }
  double Flop(const Workload& workload) const override;
  std::vector<Operand> Operands(const Workload& workload, const Target& target) const override;
  std::vector<const Template*> Templates(const Workload& workload, const Target& target) const override;
  TemplateList AllTemplates() const override { return {{kCpuFamily, {&template_}}, {kGpuFamily, {&gpu_template_}}}; }
  void Reference(const Workload& workload, const Target& target, const std::vector<float*>& buffers) const override;
  bool Tunable(const Workload&) const override { return false; }

 protected:
  // The output's plain values from the inputs' plain values, without the epilogue.
  virtual std::vector<double> Evaluate(const Workload& workload,
                                       const std::vector<std::vector<double>>& inputs) const = 0;
  // FLOP for one element of the output.
  virtual double FlopPerOutput(const Workload& workload) const = 0;
  // How input `i` and the output are stored: by default as activations are.
  virtual Layout InputLayout(const Workload& workload, size_t i) const { return ActivationLayout(workload.inputs[i]); }
  virtual Layout OutputLayout(const Workload& workload) const { return ActivationLayout(OutputType(workload)); }
  static Layout ActivationLayout(const TensorType& type);

 private:
  std::string name_;
  FixedTemplate template_;
  GpuPlainTemplate gpu_template_;
};

}  // namespace hone::op
