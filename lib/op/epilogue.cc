#include "op/epilogue.h"

#include <algorithm>
#include <utility>

#include "op/plain_te.h"
#include "op/shapes.h"
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
  }
  return value == 0;
}

// The expression after the epilogue; `operand(i)` reads the i-th epilogue operand at the element in question.
static Expr ApplyEpilogue(const Workload& workload, Expr value, const std::function<Expr(size_t)>& operand) {
  size_t next = 0;
  // The value is the second operand, so that a NaN passes.
  for (const EpilogueOp& e : workload.epilogue) {
    switch (e.kind) {
      case EpilogueKind::kBias:
      case EpilogueKind::kAdd:
        value = value + operand(next++);
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
    }
  }
  return value;
}

std::vector<Operand> EpilogueOperands(const Workload& workload, const Operand& output, int lanes) {
  std::vector<Operand> operands;
  int biases = 0, residuals = 0;
  for (const EpilogueOp& e : workload.epilogue) {
    if (e.kind == EpilogueKind::kBias) {
      TensorType type{output.logical.type, {output.logical.shape[1]}};
      operands.push_back(MakeOperand(Numbered("bias", biases++), OperandRole::kConstant, type, Layout::kPlain, lanes));
    } else if (e.kind == EpilogueKind::kAdd) {
      operands.push_back(output);
      operands.back().name = Numbered("residual", residuals++);
      operands.back().role = OperandRole::kData;
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
  auto called = [&](const char* name, int count) {
    return rename ? rename(Numbered(name, count)) : Numbered(name, count);
  };
  const int64_t blocks = lanes > 0 ? CeilDiv(channels, lanes) : 0;
  const bool fill = channels < blocks * lanes;
  const std::vector<int64_t> plain = {channels}, blocked = {blocks, lanes};
  int biases = 0, residuals = 0;
  for (const EpilogueOp& e : workload.epilogue) {
    const bool bias = e.kind == EpilogueKind::kBias;
    if (!bias && e.kind != EpilogueKind::kAdd) continue;
    const Tensor raw = bias ? te::Placeholder(called("bias", biases++), lanes == 0 || fill ? plain : blocked)
                            : te::Placeholder(called("residual", residuals++), stored);
    tensors.placeholders.push_back(raw);
    tensors.is_bias.push_back(bias);
    tensors.read.push_back(raw);
    if (!bias || !fill) continue;
    tensors.read.back() = te::ComputeConstant(raw.name() + ".packed", blocked, {"co", "ci"}, [&](const Vars& i) {
      return te::ReadOrZero(raw, {i[0] * lanes + i[1]}, {blocks * lanes});
    });
  }
  return tensors;
}

Expr BlockedEpilogue(const Workload& workload, const EpilogueTensors& tensors, Expr value, const Vars& at,
                     int64_t channels, int lanes) {
  std::vector<Expr> all(at.begin(), at.end());
  Expr result = ApplyEpilogue(workload, std::move(value), [&](size_t i) {
    return tensors.is_bias[i] ? tensors.read[i](at[1], at.back()) : tensors.read[i](all);
  });
  if (channels % lanes != 0 && !EpilogueKeepsZero(workload)) {
    result = ir::MakeSelect(at[1] * lanes + at.back() < channels, result, Float(0));
  }
  return result;
}

Expr PlainEpilogue(const Workload& workload, const EpilogueTensors& tensors, Expr value, const Vars& at,
                   size_t channels) {
  return ApplyEpilogue(workload, std::move(value), [&](size_t i) {
    if (!tensors.is_bias[i]) return tensors.read[i]({at.begin(), at.end()});
    return tensors.read[i](at[channels]);
  });
}

}  // namespace hone::op
