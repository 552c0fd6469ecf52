#include "op/simple_operator.h"

#include <algorithm>
#include <utility>

#include "op/epilogue.h"
#include "op/shapes.h"

namespace hone::op {

std::vector<Step> SpreadOut(int64_t tasks, const std::string& axis, int64_t extent, int threads) {
  std::vector<Step> steps = {Vectorize("out", "ci")};
  int64_t pieces = std::min(CeilDiv(4 * threads, tasks), extent);
  std::vector<std::string> outer = {"n", "co"};
  if (pieces > 1) {
    steps.push_back(Split("out", axis, {CeilDiv(extent, pieces)}, {axis + ".o", axis + ".i"}));
    outer.push_back(axis + ".o");
  }
  steps.push_back(Fuse("out", outer, "task"));
  steps.push_back(Parallel("out", "task"));
  return steps;
}

SimpleOperator::SimpleOperator(std::string name, int version, FixedTemplate::Builder builder)
    : name_(std::move(name)),
      template_(name_ + "_default", version, builder),
      gpu_template_(name_ + "_gpu", version, builder) {}

Layout SimpleOperator::ActivationLayout(const TensorType& type) { return op::ActivationLayout(type); }

double SimpleOperator::Flop(const Workload& workload) const {
  return static_cast<double>(OutputType(workload).Elements()) * (FlopPerOutput(workload) + EpilogueFlop(workload));
}

std::vector<Operand> SimpleOperator::Operands(const Workload& workload, const Target& target) const {
  int lanes = target.FloatLanes();
  std::vector<Operand> operands;
  for (size_t i = 0; i < workload.inputs.size(); ++i) {
    std::string name = i == 0 ? "data" : "data" + std::to_string(i);
    operands.push_back(MakeOperand(name, OperandRole::kData, workload.inputs[i], InputLayout(workload, i), lanes));
  }
  Operand out = MakeOperand("out", OperandRole::kOutput, OutputType(workload), OutputLayout(workload), lanes);
  for (Operand& e : EpilogueOperands(workload, out, lanes)) operands.push_back(std::move(e));
  operands.push_back(std::move(out));
  return operands;
}

std::vector<const Template*> SimpleOperator::Templates(const Workload&, const Target& target) const {
  if (target.family() == kGpuFamily) return {&gpu_template_};
  if (target.family() != kCpuFamily) return {};
  return {&template_};
}

void SimpleOperator::Reference(const Workload& workload, const Target& target,
                               const std::vector<float*>& buffers) const {
  std::vector<Operand> operands = Operands(workload, target);
  size_t inputs = workload.inputs.size();
  std::vector<std::vector<double>> values;
  for (size_t i = 0; i < inputs; ++i) values.push_back(ReadPlain(operands[i], buffers[i]));
  std::vector<double> out = Evaluate(workload, values);
  ReferenceEpilogue(workload, {operands.begin() + inputs, operands.end() - 1},
                    {buffers.begin() + inputs, buffers.end() - 1}, operands.back().logical, &out);
  WritePlain(operands.back(), out, buffers.back());
}

}  // namespace hone::op
