#include "op/conv/conv2d.h"

#include <fmt/format.h>

#include "op/conv/conv2d_depthwise.h"
#include "op/conv/conv2d_reference.h"
#include "op/conv/conv2d_shape.h"
#include "op/conv/conv2d_winograd.h"
#include "op/conv/conv_direct.h"
#include "op/conv/conv_direct_space.h"
#include "op/conv/conv_grouped.h"
#include "op/epilogue.h"
#include "op/gpu/conv2d.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

class Conv2dOperator final : public Operator {
 public:
  const char* name() const override { return "conv2d"; }

  Status Check(const Workload& w) const override {
    HONE_RETURN_IF_ERROR(CheckInputs(w, 2));
    HONE_RETURN_IF_ERROR(CheckRank(w, 0, 4));
    HONE_RETURN_IF_ERROR(CheckRank(w, 1, 4));
    HONE_RETURN_IF_ERROR(CheckAttributeNames(w, {"stride", "pad", "dilation", "groups", "in"}));
    HONE_RETURN_IF_ERROR(CheckNumbers(w, "stride", 2, 1, 1 << 16));
    HONE_RETURN_IF_ERROR(CheckNumbers(w, "pad", 4, 0, 1 << 16));
    HONE_RETURN_IF_ERROR(CheckNumbers(w, "dilation", 2, 1, 1 << 16));
    HONE_RETURN_IF_ERROR(CheckNumbers(w, "groups", 1, 1, 1 << 20));
    if (const Attribute* in = w.Find("in"); in && in->word != "nchw" && in->word != "blocked") {
      return Status::Invalid("conv2d: `in` is `nchw` (a plain input) or `blocked` (the default)");
    }
    Conv2dShape s = Conv2dShape::Of(w);
    if (s.c % s.groups != 0 || s.o % s.groups != 0 || s.c / s.groups != s.cg) {
      return Status::Invalid(
          fmt::format("conv2d: data {} and weight {} do not fit with groups={}: channels per group {} "
                      "against {}, {} outputs",
                      w.inputs[0].Text(), w.inputs[1].Text(), s.groups,
                      static_cast<double>(s.c) / static_cast<double>(s.groups), s.cg, s.o));
    }
    if (s.oh < 1 || s.ow < 1) {
      return Status::Invalid(
          fmt::format("conv2d: no output: the {}x{} window (dilation {}x{}) is larger than the padded "
                      "input {}x{}",
                      s.kh, s.kw, s.dh, s.dw, s.h + s.pt + s.pb, s.w + s.pl + s.pr));
    }
    HONE_RETURN_IF_ERROR(CheckOutput(w, {s.n, s.o, s.oh, s.ow}));
    HONE_RETURN_IF_ERROR(CheckOutput(w, {s.n, s.c, s.h + s.pt + s.pb, s.w + s.pl + s.pr}));
    return CheckEpilogue(w, OutputType(w));
  }

  Workload Canonical(const Workload& w) const override {
    Workload c{w.op, w.inputs, {}, w.epilogue};
    AddCanonical(&c, "stride", ExpandedNumbers(w, "stride", 2, 1), 'x', 1);
    AddCanonical(&c, "pad", ExpandedNumbers(w, "pad", 4, 0), ',', 0);
    AddCanonical(&c, "dilation", ExpandedNumbers(w, "dilation", 2, 1), 'x', 1);
    AddCanonical(&c, "groups", ExpandedNumbers(w, "groups", 1, 1), ',', 1);
    if (Conv2dShape::Of(w).plain_input) c.attributes.push_back(*w.Find("in"));
    return c;
  }

  TensorType OutputType(const Workload& w) const override {
    Conv2dShape s = Conv2dShape::Of(w);
    return {w.inputs[0].type, {s.n, s.o, s.oh, s.ow}};
  }

  double Flop(const Workload& w) const override {
    Conv2dShape s = Conv2dShape::Of(w);
    double outputs = static_cast<double>(s.n * s.o) * static_cast<double>(s.oh * s.ow);
    return outputs * (2.0 * static_cast<double>(s.cg * s.kh * s.kw) + EpilogueFlop(w));
  }

  std::vector<Operand> Operands(const Workload& w, const Target& target) const override {
    int lanes = target.FloatLanes();
    Layout in = Conv2dShape::Of(w).plain_input ? Layout::kPlain : Layout::kBlocked;
    Operand out = MakeOperand("out", OperandRole::kOutput, OutputType(w), Layout::kBlocked, lanes);
    std::vector<Operand> operands = {
        MakeOperand("data", OperandRole::kData, w.inputs[0], in, lanes),
        MakeOperand("weight", OperandRole::kConstant, w.inputs[1], Layout::kPlain, lanes),
    };
    for (Operand& e : EpilogueOperands(w, out, lanes)) operands.push_back(std::move(e));
    operands.push_back(std::move(out));
    return operands;
  }

  // Another algorithm is another template: its file pair, and a line here after those it competes with.
  std::vector<const Template*> Templates(const Workload& w, const Target& target) const override {
    Conv2dShape s = Conv2dShape::Of(w);
    if (target.family() == kGpuFamily) return GpuConv2dTemplates(w, target);
    if (target.family() != kCpuFamily) return {};
    int64_t lanes = target.FloatLanes();
    if (s.groups == 1 && WinogradApplies(w, target)) return {&Conv2dDirect(), &Conv2dWinograd()};
    if (s.groups == 1) return {&Conv2dDirect()};
    if (s.depthwise() && !s.plain_input) return {&Conv2dDepthwise()};
    std::vector<const Template*> templates;
    if (GroupedLanesApplies(s, lanes)) templates.push_back(&Conv2dGroupedLanes());
    if (DirectLayer::MergedGroups(s, lanes) > 0) templates.push_back(&Conv2dDirect());
    if (templates.empty()) templates.push_back(&Conv2dGrouped());
    return templates;
  }
  TemplateList AllTemplates() const override {
    return {{kCpuFamily,
             {&Conv2dDirect(), &Conv2dWinograd(), &Conv2dDepthwise(), &Conv2dGroupedLanes(), &Conv2dGrouped()}},
            {kGpuFamily, AllGpuConv2dTemplates()}};
  }

  void Reference(const Workload& w, const Target& target, const std::vector<float*>& buffers) const override {
    Conv2dReference(w, Operands(w, target), buffers);
  }

  bool Tunable(const Workload&) const override { return true; }
  bool HasBatch(const Workload&) const override { return true; }
};

}  // namespace

const Operator& Conv2d() {
  static const Conv2dOperator op;
  return op;
}

}  // namespace hone::op
