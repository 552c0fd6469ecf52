#include "op/defined_operator.h"

#include "op/epilogue.h"
#include "op/shapes.h"
#include "semantics/semantics.h"

namespace hone::op {

std::vector<Operand> DefinedOperator::Operands(const Workload& w, const Target& target) const {
  const int lanes = target.ChannelBlock();
  const bool layer = semantics::DefinitionOf(w).layer;
  std::vector<Operand> operands;
  for (size_t i = 0; i < w.inputs.size(); ++i) {
    const bool weight = layer && i == 1;
    const std::string name = weight ? "weight" : i == 0 ? "data" : "data" + std::to_string(i);
    operands.push_back(MakeOperand(name, weight ? OperandRole::kConstant : OperandRole::kData, w.inputs[i],
                                   semantics::InputLayout(w, i), lanes));
  }
  Operand out = MakeOperand("out", OperandRole::kOutput, *semantics::InferOutput(w), semantics::OutputLayout(w), lanes);
  for (Operand& e : EpilogueOperands(w, out, lanes)) operands.push_back(std::move(e));
  operands.push_back(std::move(out));
  return operands;
}

void DefinedOperator::Reference(const Workload& w, const Target& target, const std::vector<void*>& buffers) const {
  const std::vector<Operand> operands = Operands(w, target);
  std::vector<semantics::Values> values;
  for (size_t i = 0; i + 1 < operands.size(); ++i) values.push_back(ReadPlain(operands[i], buffers[i]));
  std::vector<const semantics::Values*> pointers;
  for (const semantics::Values& v : values) pointers.push_back(&v);
  WritePlain(operands.back(), semantics::Evaluate(w, pointers, 1), buffers.back());
}

std::vector<const Template*> TunedOperator::Templates(const Workload& w, const Target& target) const {
  if (target.family() == kGpuFamily) return gpu_(w, target);
  if (target.family() != kCpuFamily) return {};
  return cpu_(w, target);
}

FixedOperator::FixedOperator(std::string name, int version, FixedTemplate::Builder builder)
    : DefinedOperator(name),
      template_(name + "_default", version, builder),
      gpu_template_(name + "_gpu", version, builder) {}

std::vector<const Template*> FixedOperator::Templates(const Workload&, const Target& target) const {
  if (target.family() == kGpuFamily) return {&gpu_template_};
  if (target.family() != kCpuFamily) return {};
  return {&template_};
}

}  // namespace hone::op
