#include "op/conv/conv3d.h"

#include "op/conv/conv_direct.h"
#include "op/conv/conv_direct_space.h"
#include "op/conv/conv_grouped.h"
#include "op/epilogue.h"
#include "op/gpu/conv_tiles.h"
#include "op/shapes.h"
#include "semantics/semantics.h"

namespace hone::op {
namespace {

class Conv3dOperator final : public Operator {
 public:
  const char* name() const override { return "conv3d"; }

  Status Check(const Workload& w) const override {
    HONE_ASSIGN_OR_RETURN(TensorType output, semantics::InferOutput(w));
    return CheckEpilogue(w, output);
  }
  Workload Canonical(const Workload& w) const override { return semantics::Canonical(w); }
  TensorType OutputType(const Workload& w) const override { return *semantics::InferOutput(w); }
  double Flop(const Workload& w) const override {
    const TensorType output = OutputType(w);
    return semantics::Find("conv3d")->flop(w, output.shape) + static_cast<double>(output.Elements()) * EpilogueFlop(w);
  }

  std::vector<Operand> Operands(const Workload& w, const Target& target) const override {
    int lanes = target.FloatLanes();
    Layout in = Conv3dShape::Of(w).plain_input ? Layout::kPlain : Layout::kBlocked;
    Operand out = MakeOperand("out", OperandRole::kOutput, OutputType(w), Layout::kBlocked, lanes);
    std::vector<Operand> operands = {
        MakeOperand("data", OperandRole::kData, w.inputs[0], in, lanes),
        MakeOperand("weight", OperandRole::kConstant, w.inputs[1], Layout::kPlain, lanes),
    };
    for (Operand& e : EpilogueOperands(w, out, lanes)) operands.push_back(std::move(e));
    operands.push_back(std::move(out));
    return operands;
  }

  std::vector<const Template*> Templates(const Workload& w, const Target& target) const override {
    if (target.family() == kGpuFamily) return GpuConvTilesTemplates(w, target);
    if (target.family() != kCpuFamily) return {};
    if (Merges(w, target)) return {&Conv3dDirect()};
    return {&Conv3dGrouped()};
  }
  TemplateList AllTemplates() const override {
    return {{kCpuFamily, {&Conv3dDirect(), &Conv3dGrouped()}}, {kGpuFamily, {&GpuConvTiles(), &GpuConvPlain()}}};
  }

  void Reference(const Workload& w, const Target& target, const std::vector<float*>& buffers) const override {
    std::vector<Operand> operands = Operands(w, target);
    semantics::Values data = ReadPlain(operands[0], buffers[0]), weight = ReadPlain(operands[1], buffers[1]);
    semantics::Values out = semantics::Evaluate(w, {&data, &weight}, 1);
    ReferenceEpilogue(w, {operands.begin() + 2, operands.end() - 1}, {buffers.begin() + 2, buffers.end() - 1},
                      operands.back().logical, &out);
    WritePlain(operands.back(), out, buffers.back());
  }

  bool Tunable(const Workload&) const override { return true; }
  bool HasBatch(const Workload&) const override { return true; }

 private:
  static bool Merges(const Workload& w, const Target& target) {
    const ConvVolume v = ConvVolume::Of(w);
    return v.s.groups == 1 || DirectLayer::MergedGroups(v.s, target.FloatLanes()) > 0;
  }
};

}  // namespace

Conv3dShape Conv3dShape::Of(const Workload& w) {
  Conv3dShape s;
  const std::vector<int64_t>& weight = w.inputs[1].shape;
  s.n = w.inputs[0].shape[0], s.c = w.inputs[0].shape[1];
  s.o = weight[0], s.cg = weight[1];
  s.groups = semantics::Whole(w, "groups", 1);
  s.window = *semantics::WindowOf(w, {weight.begin() + 2, weight.end()});
  s.plain_input = semantics::Word(w, "in", "blocked") == "ncdhw";
  return s;
}

bool Conv3dShape::NeedsPad() const {
  for (size_t i = 0; i < 3; ++i) {
    if (window.before[i] > 0 || reach(i) > in(i)) return true;
  }
  return false;
}

const Operator& Conv3d() {
  static const Conv3dOperator op;
  return op;
}

}  // namespace hone::op
