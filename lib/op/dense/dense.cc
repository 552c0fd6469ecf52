#include "op/dense/dense.h"

#include <fmt/format.h>

#include "op/dense/dense_reference.h"
#include "op/dense/dense_template.h"
#include "op/epilogue.h"
#include "op/gpu/dense.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

class DenseOperator final : public Operator {
 public:
  const char* name() const override { return "dense"; }

  Status Check(const Workload& w) const override {
    HONE_RETURN_IF_ERROR(CheckInputs(w, 2));
    HONE_RETURN_IF_ERROR(CheckRank(w, 0, 2));
    HONE_RETURN_IF_ERROR(CheckRank(w, 1, 2));
    HONE_RETURN_IF_ERROR(CheckAttributeNames(w, {}));
    if (w.inputs[0].shape[1] != w.inputs[1].shape[1]) {
      return Status::Invalid(fmt::format("dense: data {} and weight {} differ in their second axis", w.inputs[0].Text(),
                                         w.inputs[1].Text()));
    }
    HONE_RETURN_IF_ERROR(CheckOutput(w, OutputType(w).shape));
    return CheckEpilogue(w, OutputType(w));
  }
  Workload Canonical(const Workload& w) const override { return w; }
  TensorType OutputType(const Workload& w) const override {
    return {w.inputs[0].type, {w.inputs[0].shape[0], w.inputs[1].shape[0]}};
  }
  double Flop(const Workload& w) const override {
    return static_cast<double>(OutputType(w).Elements()) *
           (2.0 * static_cast<double>(w.inputs[0].shape[1]) + EpilogueFlop(w));
  }
  std::vector<Operand> Operands(const Workload& w, const Target& target) const override {
    int lanes = target.FloatLanes();
    Operand out = MakeOperand("out", OperandRole::kOutput, OutputType(w), Layout::kPlain, lanes);
    std::vector<Operand> operands = {
        MakeOperand("data", OperandRole::kData, w.inputs[0], Layout::kPlain, lanes),
        MakeOperand("weight", OperandRole::kConstant, w.inputs[1], Layout::kPlain, lanes),
    };
    for (Operand& e : EpilogueOperands(w, out, lanes)) operands.push_back(std::move(e));
    operands.push_back(std::move(out));
    return operands;
  }
  std::vector<const Template*> Templates(const Workload& w, const Target& target) const override {
    if (target.family() == kGpuFamily) return GpuDenseTemplates(w);
    if (target.family() != kCpuFamily) return {};
    return {&DensePacked()};
  }
  TemplateList AllTemplates() const override {
    return {{kCpuFamily, {&DensePacked()}}, {kGpuFamily, {&GpuDenseRows(), &GpuDenseLarge(), &GpuDenseSmall()}}};
  }
  void Reference(const Workload& w, const Target& target, const std::vector<float*>& buffers) const override {
    DenseReference(w, Operands(w, target), buffers);
  }
  bool Tunable(const Workload&) const override { return true; }
  bool HasBatch(const Workload&) const override { return true; }
};

}  // namespace

const Operator& Dense() {
  static const DenseOperator op;
  return op;
}

}  // namespace hone::op
