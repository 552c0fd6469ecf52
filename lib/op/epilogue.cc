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
    if (semantics::MakesBytes(e)) return false;
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

// s / 2^n, rounded and clamped (semantics/epilogue.h), by shifts of numbers that stay in i32. With t = s * 2^(1 - n),
// rounded down, the value is t / 2, rounded up, which is t - (t >> 1). A shift to the left meets only sums of 22 bits:
// larger ones are beyond all limits in any case.
struct ShiftParts {
  Expr least, most;  // of the sum
  Expr left, right;  // t = (clamped sum << left) >> right
};

static ShiftParts PartsOf(const Expr& shift) {
  const auto i32 = [](int64_t value) { return ir::MakeInt(DType::Int(32), value); };
  const Expr n = ir::Min(ir::Max(shift, i32(-8)), i32(32)), to_right = n >= i32(1);
  return {ir::MakeSelect(to_right, i32(INT32_MIN), i32(-(1 << 21))),
          ir::MakeSelect(to_right, i32(INT32_MAX), i32((1 << 21) - 1)), ir::Max(i32(1) - n, i32(0)),
          ir::Max(n - i32(1), i32(0))};
}

static Expr Shifted(const EpilogueTensors& tensors, const Expr& sum, const ShiftParts& by, DType type) {
  const Expr inside = ir::Min(ir::Max(sum, by.least), by.most);
  const Expr doubled = ir::ShiftRight(ir::ShiftLeft(inside, by.left), by.right);
  const Expr value = doubled - ir::ShiftRight(doubled, ir::MakeInt(DType::Int(32), 1));
  return ir::MakeCast(type, ir::Min(ir::Max(value, tensors.bounds(Expr(0))), tensors.bounds(Expr(1))));
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
        } else if (workload.HasEpilogue(EpilogueKind::kShift)) {
          const Expr other = ir::MakeCast(DType::Int(32), operand(next));
          value = value + ir::ShiftLeft(other, operand(next + 1));
          next += 2;
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
      case EpilogueKind::kShift:
        value =
            Shifted(tensors, value, {operand(next), operand(next + 1), operand(next + 2), operand(next + 3)}, e.type);
        next += 4;
        break;
    }
  }
  return value;
}

std::vector<Operand> EpilogueOperands(const Workload& workload, const Operand& output, int lanes) {
  std::vector<Operand> operands;
  int biases = 0, residuals = 0;
  const std::vector<TensorType> types = semantics::EpilogueTypes(workload);
  const bool shifts = workload.HasEpilogue(EpilogueKind::kShift);
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
      constant(shifts ? "residual_shift" : "residual_scale");
      if (!shifts) constant("residual_zero");
    } else if (semantics::MakesBytes(e)) {
      constant(shifts ? "shift" : "multiplier");
      constant("limits");
    }
  }
  return operands;
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
  const bool shifts = workload.HasEpilogue(EpilogueKind::kShift);
  // A value for each channel.
  const auto values = [&](const std::string& name) {
    return add(name, lanes == 0 || fill ? std::vector<int64_t>{channels} : std::vector<int64_t>{blocks, lanes});
  };
  const auto reads = [&](const Tensor& tensor) {
    tensors.is_bias.push_back(true);
    tensors.read.push_back(tensor);
  };
  // Reads a constant that `of` makes of each channel's value.
  const auto reads_each = [&](const Tensor& raw, const char* suffix, const std::function<Expr(const Expr&)>& of) {
    const std::string name = raw.name() + suffix;
    if (lanes == 0) {
      return reads(te::ComputeConstant(name, {channels}, {"co"}, [&](const Vars& i) { return of(raw(i[0])); }));
    }
    reads(te::ComputeConstant(name, {blocks, lanes}, {"co", "ci"}, [&](const Vars& i) {
      return of(fill ? te::ReadOrZero(raw, {i[0] * lanes + i[1]}, {blocks * lanes}) : raw(i[0], i[1]));
    }));
  };
  const auto by_channel = [&](const std::string& name) {
    const Tensor raw = values(name);
    if (!fill) return reads(raw);
    reads_each(raw, ".packed", [](const Expr& value) { return value; });
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
      if (shifts) {
        reads_each(values("residual_shift"), ".inside", [](const Expr& value) {
          return ir::Min(ir::Max(value, ir::MakeInt(DType::Int(32), 0)), ir::MakeInt(DType::Int(32), 31));
        });
        continue;
      }
      tensors.residual_scale = add("residual_scale", {1});
      tensors.residual_zero = first_whole(add("residual_zero", {1}));
    }
    if (e.kind == EpilogueKind::kShift) {
      const Tensor shift = values("shift");
      reads_each(shift, ".least", [](const Expr& value) { return PartsOf(value).least; });
      reads_each(shift, ".most", [](const Expr& value) { return PartsOf(value).most; });
      reads_each(shift, ".left", [](const Expr& value) { return PartsOf(value).left; });
      reads_each(shift, ".right", [](const Expr& value) { return PartsOf(value).right; });
      const Tensor limits = add("limits", {2});
      tensors.bounds = te::ComputeConstant(limits.name() + ".bounds", {2}, {"i"},
                                           [&](const Vars& i) { return whole(limits(i[0])); });
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
