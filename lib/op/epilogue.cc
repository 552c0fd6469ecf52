#include "op/epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "op/math_te.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

using ir::Expr;

bool IsOperand(EpilogueKind kind) { return kind == EpilogueKind::kBias || kind == EpilogueKind::kAdd; }

std::string Numbered(const char* name, int count) { return count == 0 ? name : name + std::to_string(count); }

}  // namespace

Status CheckEpilogue(const Workload& workload, const TensorType& output) {
  for (const EpilogueOp& e : workload.epilogue) {
    if (e.kind == EpilogueKind::kBias && output.shape.size() < 2) {
      return Status::Invalid(fmt::format("{}: a bias needs an output with channels (axis 1)", workload.op));
    }
    if (e.kind == EpilogueKind::kClip && !(e.low <= e.high)) {
      return Status::Invalid(fmt::format("{}: clip({},{}): low must not exceed high", workload.op, e.low, e.high));
    }
  }
  return Status::Ok();
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

double EpilogueFlop(const Workload& workload) {
  double flop = 0;
  for (const EpilogueOp& e : workload.epilogue) flop += IsOperand(e.kind) || e.kind == EpilogueKind::kRelu ? 1 : 2;
  return flop;
}

bool EpilogueKeepsZero(const Workload& workload) {
  double value = 0;
  for (const EpilogueOp& e : workload.epilogue) {
    if (e.kind == EpilogueKind::kClip) value = std::min(std::max(value, e.low), e.high);
    if (e.kind == EpilogueKind::kRelu || e.kind == EpilogueKind::kRelu6) value = std::max(value, 0.0);
  }
  return value == 0;
}

Expr ApplyEpilogue(const Workload& workload, Expr value, const std::function<Expr(size_t)>& operand) {
  size_t next = 0;
  // The value stands second, so that a NaN passes.
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

EpilogueTensors MakeEpilogueTensors(const Workload& workload, const std::vector<int64_t>& stored, int64_t channels,
                                    int lanes, const std::function<std::string(const std::string&)>& rename) {
  EpilogueTensors tensors;
  auto called = [&](const char* name, int count) {
    return rename ? rename(Numbered(name, count)) : Numbered(name, count);
  };
  int biases = 0, residuals = 0;
  for (const EpilogueOp& e : workload.epilogue) {
    if (e.kind == EpilogueKind::kAdd) {
      tensors.placeholders.push_back(te::Placeholder(called("residual", residuals++), stored));
      tensors.read.push_back(tensors.placeholders.back());
      tensors.is_bias.push_back(false);
    } else if (e.kind == EpilogueKind::kBias) {
      std::string name = called("bias", biases++);
      if (lanes == 0) {
        tensors.placeholders.push_back(te::Placeholder(name, {channels}));
        tensors.read.push_back(tensors.placeholders.back());
      } else if (channels % lanes == 0) {
        tensors.placeholders.push_back(te::Placeholder(name, {channels / lanes, lanes}));
        tensors.read.push_back(tensors.placeholders.back());
      } else {
        te::Tensor raw = te::Placeholder(name, {channels});
        tensors.placeholders.push_back(raw);
        tensors.read.push_back(te::ComputeConstant(
            name + ".packed", {CeilDiv(channels, lanes), lanes}, {"co", "ci"}, [&](const std::vector<ir::Var>& i) {
              Expr c = i[0] * lanes + i[1];
              return ir::MakeSelect(c < channels, raw(ir::Min(c, channels - 1)), Float(0));
            }));
      }
      tensors.is_bias.push_back(true);
    }
  }
  return tensors;
}

Expr BlockedEpilogue(const Workload& workload, const EpilogueTensors& tensors, Expr value,
                     const std::vector<ir::Var>& at, int64_t channels, int lanes) {
  std::vector<Expr> all(at.begin(), at.end());
  Expr result = ApplyEpilogue(workload, std::move(value), [&](size_t i) {
    return tensors.is_bias[i] ? tensors.read[i](at[1], at.back()) : tensors.read[i](all);
  });
  if (channels % lanes != 0 && !EpilogueKeepsZero(workload)) {
    result = ir::MakeSelect(at[1] * lanes + at.back() < channels, result, Float(0));
  }
  return result;
}

void ReferenceEpilogue(const Workload& workload, const std::vector<Operand>& operands,
                       const std::vector<const float*>& storage, const TensorType& output,
                       std::vector<double>* values) {
  int64_t count = static_cast<int64_t>(values->size());
  size_t next = 0;
  for (const EpilogueOp& e : workload.epilogue) {
    if (e.kind == EpilogueKind::kBias) {
      int64_t channels = output.shape[1], inner = 1;
      for (size_t i = 2; i < output.shape.size(); ++i) inner *= output.shape[i];
      const float* bias = storage[next++];
      for (int64_t i = 0; i < count; ++i) (*values)[i] += bias[i / inner % channels];
    } else if (e.kind == EpilogueKind::kAdd) {
      std::vector<double> residual = ReadPlain(operands[next], storage[next]);
      ++next;
      for (int64_t i = 0; i < count; ++i) (*values)[i] += residual[i];
    } else {
      bool clip = e.kind == EpilogueKind::kClip;
      double low = clip ? e.low : 0;
      for (double& v : *values) v = std::max(v, low);
      if (e.kind == EpilogueKind::kRelu) continue;
      double high = clip ? e.high : 6;
      for (double& v : *values) v = std::min(v, high);
    }
  }
}

}  // namespace hone::op
