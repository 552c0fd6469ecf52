#include "op/epilogue.h"

#include <algorithm>
#include <utility>

#include "op/plain_te.h"
#include "op/shapes.h"
#include "semantics/epilogue.h"
#include "semantics/semantics.h"

namespace hone::op {

static std::string Numbered(const char* name, int count) { return count == 0 ? name : name + std::to_string(count); }

// Whether an output of 0 with a bias of 0 and a residual of 0 stays 0. If not, the lanes beyond the channels need a
// mask.
static bool EpilogueKeepsZero(const Workload& workload) {
  double value = 0;
  for (const EpilogueOp& e : workload.epilogue) {
    if (e.kind == EpilogueKind::kClip) value = std::min(std::max(value, e.low), e.high);
    if (e.kind == EpilogueKind::kRelu || e.kind == EpilogueKind::kRelu6) value = std::max(value, 0.0);
    if (e.kind == EpilogueKind::kRequant) return false;
  }
  return value == 0;
}

// The sum as an integer of 8 bits (semantics/epilogue.h). `residual` may be undefined.
static Expr Requantised(const EpilogueTensors& tensors, const Expr& sum, const Expr& residual, const Expr& multiplier,
                        DType type) {
  Expr product = ir::MakeCast(DType::Float(32), sum) * multiplier;
  if (residual.defined()) {
    const Expr above_zero = ir::MakeCast(DType::Int(32), residual) - tensors.residual_zero(Expr(0));
    product = ir::MakeCall(DType::Float(32), ir::Intrinsic::kFma,
                           {ir::MakeCast(DType::Float(32), above_zero), tensors.residual_scale(Expr(0)), product});
  }
  const Expr inside = ir::Min(ir::Max(product, tensors.bounds(Expr(0))), tensors.bounds(Expr(1)));  // NaN is the least
  return ir::MakeCast(type,
                      ir::MakeCast(DType::Int(32), CallMath(ir::Intrinsic::kRound, inside)) + tensors.zero(Expr(0)));
}

// The expression after the epilogue; `operand(i)` reads EpilogueTensors::read[i] at the element in question.
static Expr ApplyEpilogue(const Workload& workload, const EpilogueTensors& tensors, Expr value,
                          const std::function<Expr(size_t)>& operand) {
  size_t next = 0;
  Expr residual;  // of bytes
  // The value is the second operand, so that a NaN passes.
  for (const EpilogueOp& e : workload.epilogue) {
    switch (e.kind) {
      case EpilogueKind::kBias:
        value = value + operand(next++);
        break;
      case EpilogueKind::kAdd:
        if (e.type.is_float()) {
          value = value + operand(next++);
        } else {
          residual = operand(next++);
        }
        break;
      case EpilogueKind::kRelu:
        value = ir::Max(Float(0), value);
        break;
      case EpilogueKind::kRelu6:
        value = ir::Min(Float(6), ir::Max(Float(0), value));
        break;
      case EpilogueKind::kClip:
        value = ir::Min(Float(e.high), ir::Max(Float(e.low), value));
        break;
      case EpilogueKind::kRequant:
        value = Requantised(tensors, value, residual, operand(next++), e.type);
        break;
    }
  }
  return value;
}

std::vector<Operand> EpilogueOperands(const Workload& workload, const Operand& output, int lanes) {
  std::vector<Operand> operands;
  int biases = 0, residuals = 0;
  const std::vector<TensorType> types = semantics::EpilogueTypes(workload);
  const auto constant = [&](const std::string& name) {
    const TensorType& type = types[operands.size()];
    operands.push_back(MakeOperand(name, OperandRole::kConstant, type, Layout::kPlain, lanes));
  };
  for (const EpilogueOp& e : workload.epilogue) {
    if (e.kind == EpilogueKind::kBias) {
      constant(Numbered("bias", biases++));
    } else if (e.kind == EpilogueKind::kAdd) {
      operands.push_back(output);
      operands.back().name = Numbered("residual", residuals++);
      operands.back().role = OperandRole::kData;
      operands.back().logical.type = e.type;
      if (e.type.is_float()) continue;
      constant("residual_scale");
      constant("residual_zero");
    } else if (e.kind == EpilogueKind::kRequant) {
      constant("multiplier");
      constant("limits");
    }
  }
  return operands;
}

std::vector<std::string> ResidualNames(const Workload& workload) {
  std::vector<std::string> names;
  for (const EpilogueOp& e : workload.epilogue) {
    if (e.kind == EpilogueKind::kAdd) names.push_back(Numbered("residual", static_cast<int>(names.size())));
  }
  return names;
}

std::vector<Tensor> EpilogueTensors::After(std::vector<Tensor> inputs) const {
  inputs.insert(inputs.end(), placeholders.begin(), placeholders.end());
  return inputs;
}

EpilogueTensors MakeEpilogueTensors(const Workload& workload, const std::vector<int64_t>& stored, int64_t channels,
                                    int lanes, const std::function<std::string(const std::string&)>& rename) {
  EpilogueTensors tensors;
  const std::vector<TensorType> types = semantics::EpilogueTypes(workload);
  const auto add = [&](const std::string& name, const std::vector<int64_t>& shape) {
    const DType type = types[tensors.placeholders.size()].type;
    tensors.placeholders.push_back(te::Placeholder(rename ? rename(name) : name, shape, type));
    return tensors.placeholders.back();
  };
  const int64_t blocks = lanes > 0 ? CeilDiv(channels, lanes) : 0;
  const bool fill = channels < blocks * lanes;
  // A value for each channel.
  const auto by_channel = [&](const std::string& name) {
    const Tensor raw =
        add(name, lanes == 0 || fill ? std::vector<int64_t>{channels} : std::vector<int64_t>{blocks, lanes});
    tensors.is_bias.push_back(true);
    tensors.read.push_back(raw);
    if (!fill) return;
    tensors.read.back() = te::ComputeConstant(
        raw.name() + ".packed", {blocks, lanes}, {"co", "ci"},
        [&](const Vars& i) { return te::ReadOrZero(raw, {i[0] * lanes + i[1]}, {blocks * lanes}); });
  };
  const auto whole = [](const Expr& value) { return ir::MakeCast(DType::Int(32), value); };
  const auto first_whole = [&](const Tensor& tensor) {
    return te::ComputeConstant(tensor.name() + ".zero", {1}, {"i"}, [&](const Vars& i) { return whole(tensor(i[0])); });
  };
  int biases = 0, residuals = 0;
  for (const EpilogueOp& e : workload.epilogue) {
    if (e.kind == EpilogueKind::kBias) by_channel(Numbered("bias", biases++));
    if (e.kind == EpilogueKind::kAdd) {
      tensors.read.push_back(add(Numbered("residual", residuals++), stored));
      tensors.is_bias.push_back(false);
      if (e.type.is_float()) continue;
      tensors.residual_scale = add("residual_scale", {1});
      tensors.residual_zero = first_whole(add("residual_zero", {1}));
    }
    if (e.kind != EpilogueKind::kRequant) continue;
    by_channel("multiplier");
    const Tensor limits = add("limits", {3});
    tensors.zero = first_whole(limits);
    tensors.bounds = te::ComputeConstant(limits.name() + ".bounds", {2}, {"i"}, [&](const Vars& i) {
      return ir::MakeCast(DType::Float(32), whole(limits(i[0] + 1)) - whole(limits(Expr(0))));
    });
  }
  return tensors;
}

Expr BlockedEpilogue(const Workload& workload, const EpilogueTensors& tensors, Expr value, const Vars& at,
                     int64_t channels, int lanes) {
  std::vector<Expr> all(at.begin(), at.end());
  Expr result = ApplyEpilogue(workload, tensors, std::move(value), [&](size_t i) {
    return tensors.is_bias[i] ? tensors.read[i](at[1], at.back()) : tensors.read[i](all);
  });
  if (channels % lanes != 0 && !EpilogueKeepsZero(workload)) {
    result = ir::MakeSelect(at[1] * lanes + at.back() < channels, result, ir::Imm(result.type(), 0));
  }
  return result;
}

Expr PlainEpilogue(const Workload& workload, const EpilogueTensors& tensors, Expr value, const Vars& at,
                   size_t channels) {
  return ApplyEpilogue(workload, tensors, std::move(value), [&](size_t i) {
    if (!tensors.is_bias[i]) return tensors.read[i]({at.begin(), at.end()});
    return tensors.read[i](at[channels]);
  });
}

}  // namespace hone::op
