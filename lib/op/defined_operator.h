// Operators as semantics/ defines them: what is added here is how they are built.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "op/fixed_template.h"
#include "op/gpu/plain.h"
#include "op/operator.h"

namespace hone::op {

// Operands are named data, data1, ..; of a layer data and weight; then those of the epilogue.
class DefinedOperator : public Operator {
 public:
  explicit DefinedOperator(std::string name) : name_(std::move(name)) {}

  const char* name() const override { return name_.c_str(); }
  std::vector<Operand> Operands(const Workload& workload, const Target& target) const override;
  void Reference(const Workload& workload, const Target& target, const std::vector<void*>& buffers) const override;

 private:
  std::string name_;
};

// A tuned one: its templates by the family of the target.
class TunedOperator final : public DefinedOperator {
 public:
  using Choice = std::vector<const Template*> (*)(const Workload& workload, const Target& target);
  TunedOperator(std::string name, Choice cpu, Choice gpu, TemplateList all)
      : DefinedOperator(std::move(name)), cpu_(cpu), gpu_(gpu), all_(std::move(all)) {}

  std::vector<const Template*> Templates(const Workload& workload, const Target& target) const override;
  TemplateList AllTemplates() const override { return all_; }
  bool Tunable(const Workload&) const override { return true; }

 private:
  Choice cpu_, gpu_;
  TemplateList all_;
};

// One with a schedule that needs no tuning: template "<name>_default", on GPUs "<name>_gpu".
class FixedOperator : public DefinedOperator {
 public:
  FixedOperator(std::string name, int version, FixedTemplate::Builder builder);

  std::vector<const Template*> Templates(const Workload& workload, const Target& target) const override;
  TemplateList AllTemplates() const override { return {{kCpuFamily, {&template_}}, {kGpuFamily, {&gpu_template_}}}; }
  bool Tunable(const Workload&) const override { return false; }

 private:
  FixedTemplate template_;
  GpuPlainTemplate gpu_template_;
};

}  // namespace hone::op
