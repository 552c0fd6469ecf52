#include "op/defined_operator.h"

#include "base/text.h"
#include "op/epilogue.h"
#include "op/shapes.h"
#include "semantics/semantics.h"

namespace hone::op {

std::vector<Operand> DefinedOperator::Operands(const Workload& w, const Target& target) const {
  const int lanes = target.ChannelBlock();
  const bool layer = semantics::DefinitionOf(w).layer;
  std::vector<Operand> operands;
  for (size_t i = 0; i < w.inputs.size(); ++i) {
    constexpr const char* kNames[] = {"data", "weight", "zero", "weight_zero"};  // of layers
    const std::string name = layer ? kNames[i] : i == 0 ? "data" : "data" + std::to_string(i);
    operands.push_back(MakeOperand(name, layer && i > 0 ? OperandRole::kConstant : OperandRole::kData, w.inputs[i],
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

Status NotComputedBy(const Algorithm& algorithm, const Workload& workload) {
  return Status::Invalid("{} cannot be computed by {}", workload.Text(), algorithm.Text());
}

Result<Computation> ComputeBy(const std::vector<NamedAlgorithm>& algorithms, const Workload& workload,
                              const Target& target, const Algorithm& algorithm) {
  std::vector<std::string> names;
  for (const NamedAlgorithm& a : algorithms) {
    if (a.family != target.family()) continue;
    names.emplace_back(a.name);
    if (a.name != algorithm.name) continue;
    std::vector<std::string_view> keys;
    for (const auto& number : algorithm.numbers) keys.emplace_back(number.first);
    return keys == a.numbers ? a.compute(workload, target, algorithm) : NotComputedBy(algorithm, workload);
  }
  return Status::Invalid("{} has no algorithm `{}` for this target{}", workload.OperatorText(), algorithm.name,
                         SuggestionText(algorithm.name, names));
}

bool CoversExtent(const Algorithm& algorithm, std::string_view key, int64_t needed) {
  constexpr int64_t kMostTile = 1024;
  const int64_t extent = algorithm.Number(key, 0);
  return needed <= extent && extent <= 2 * needed + kMostTile;
}

Result<Candidate> FixedTemplate::Instantiate(const Workload& workload, const Target& target, const Config&) const {
  HONE_ASSIGN_OR_RETURN(FixedKernel kernel, builder_(workload, target));
  return Candidate{{algorithm_, {}}, std::move(kernel.steps)};
}

Result<Computation> SketchedOperator::Compute(const Workload& workload, const Target& target,
                                              const Algorithm& algorithm) const {
  if (!(algorithm == Algorithm())) return NotComputedBy(algorithm, workload);
  HONE_ASSIGN_OR_RETURN(FixedKernel kernel, builder_(workload, target));
  return static_cast<Computation&&>(kernel);
}

std::vector<const Template*> FixedOperator::Templates(const Workload&, const Target& target) const {
  if (target.family() != kCpuFamily) return {};
  return {&template_};
}

}  // namespace hone::op
