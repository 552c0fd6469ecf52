#include "semantics/epilogue.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hone::semantics {
namespace {

// The sum with the bias wraps around, as in i32.
double Wrapped(double sum) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(sum))); }

// `residual` is r - zero_r, and `scale` its scale.
double Requantised(double sum, double multiplier, double residual, double scale, const Values& limits) {
  float product = static_cast<float>(static_cast<int32_t>(sum)) * static_cast<float>(multiplier);
  product = std::fma(static_cast<float>(residual), static_cast<float>(scale), product);
  const double zero = limits[0], least = limits[1], most = limits[2];
  if (std::isnan(product)) return least;
  return std::min(std::max(std::nearbyint(static_cast<double>(product)) + zero, least), most);
}

// s / 2^n, rounded to the nearest, ties upwards. Beyond these n nothing changes: 2^-32 s is less than a half, and 2^8 s
// is 0 or beyond all limits.
double Shifted(double sum, double n, const Values& limits) {
  const double scaled = std::ldexp(sum, -static_cast<int>(std::clamp(n, -8.0, 32.0)));
  return std::min(std::max(std::floor(scaled + 0.5), limits[0]), limits[1]);
}

Status CheckIntegers(const Workload& w) {
  for (size_t i = 0, count = w.epilogue.size(); i < count; ++i) {
    const EpilogueOp& e = w.epilogue[i];
    const bool before_last = i + 2 == count && MakesBytes(w.epilogue.back());
    if (e.kind == EpilogueKind::kBias || (MakesBytes(e) && i + 1 == count)) continue;
    if (e.kind == EpilogueKind::kAdd && !e.type.is_float() && before_last) continue;
    return Status::Invalid(w.op +
                           ": after a sum of integers, only `bias` can follow, and `add(u8)` and `requant(u8)` or " +
                           "`shift(u8)` (or i8) as the last ones");
  }
  return Status();
}

}  // namespace

bool IsActivation(const EpilogueOp& op) {
  return !MakesBytes(op) && op.kind != EpilogueKind::kAdd && op.kind != EpilogueKind::kBias;
}

size_t EpilogueOperandCount(const Workload& w) {
  size_t count = 0;
  const bool shifts = w.HasEpilogue(EpilogueKind::kShift);
  for (const EpilogueOp& e : w.epilogue) {
    const bool of_bytes = e.kind == EpilogueKind::kAdd && !e.type.is_float();
    count += IsActivation(e) ? 0 : of_bytes ? (shifts ? 2 : 3) : MakesBytes(e) ? 2 : 1;
  }
  return count;
}

Result<TensorType> AfterEpilogue(const Workload& w, const TensorType& output) {
  TensorType after = output;
  if (w.epilogue.empty()) return after;
  const Definition& d = DefinitionOf(w);
  if (!d.layer && !d.elementwise) return Status::Invalid(w.op + ": takes no epilogue (`+ ...`)");
  if (d.elementwise && std::any_of(w.inputs.begin(), w.inputs.end(), [&](auto& t) { return t != output; })) {
    return Status::Invalid(w.op + ": an epilogue needs inputs of the output's shape");
  }
  if (!output.type.is_float()) HONE_RETURN_IF_ERROR(CheckIntegers(w));
  for (const EpilogueOp& e : w.epilogue) {
    const bool bias = e.kind == EpilogueKind::kBias, add = e.kind == EpilogueKind::kAdd;
    const char* name = bias ? "bias" : add ? "add(u8)" : e.kind == EpilogueKind::kShift ? "shift" : "requant";
    if ((bias || MakesBytes(e)) && output.shape.size() < 2) {
      return Status::Invalid("{}: a {} needs an output with channels (axis 1)", w.op, name);
    }
    if (!e.type.is_float() && output.type.is_float()) {
      return Status::Invalid("{}: {} needs sums of integers", w.op, name);
    }
    if (MakesBytes(e)) after.type = e.type;
    if (e.kind == EpilogueKind::kClip && !(e.low <= e.high)) {
      return Status::Invalid("{}: clip({},{}): low must not exceed high", w.op, e.low, e.high);
    }
  }
  return after;
}

std::vector<TensorType> EpilogueTypes(const Workload& w) {
  if (w.epilogue.empty()) return {};
  const TensorType output = *InferAnchor(w);
  std::vector<TensorType> types;
  const bool shifts = w.HasEpilogue(EpilogueKind::kShift);
  for (const EpilogueOp& e : w.epilogue) {
    if (e.kind == EpilogueKind::kBias) types.push_back({output.type, {output.shape[1]}});
    if (e.kind == EpilogueKind::kAdd) types.push_back({e.type, output.shape});
    if (e.kind == EpilogueKind::kAdd && !e.type.is_float() && shifts) {
      types.push_back({DType::Int(32), {output.shape[1]}});
    } else if (e.kind == EpilogueKind::kAdd && !e.type.is_float()) {
      types.push_back({DType::Float(32), {1}});
      types.push_back({e.type, {1}});
    }
    if (!MakesBytes(e)) continue;
    types.push_back({shifts ? DType::Int(32) : DType::Float(32), {output.shape[1]}});
    types.push_back({e.type, {shifts ? 2 : 3}});
  }
  return types;
}

double EpilogueFlop(const Workload& w) {
  double flop = 0;
  for (const EpilogueOp& e : w.epilogue) {
    const bool one = e.kind == EpilogueKind::kBias || e.kind == EpilogueKind::kAdd || e.kind == EpilogueKind::kRelu;
    flop += one ? 1 : MakesBytes(e) ? 4 : 2;
  }
  return flop;
}

void EvaluateEpilogue(const Workload& w, const std::vector<const Values*>& operands, const Shape& shape, Values* out) {
  size_t next = 0;
  const bool whole = !w.inputs[0].type.is_float();
  const Values zero = {0};
  const Values *residual = &zero, *residual_scale = &zero, *residual_zero = &zero;
  const size_t inner = shape.size() > 1 ? static_cast<size_t>(Product(shape, 2, shape.size())) : 1;
  const bool shifts = w.HasEpilogue(EpilogueKind::kShift);
  for (const EpilogueOp& e : w.epilogue) {
    if (e.kind == EpilogueKind::kBias || MakesBytes(e)) {
      const Values& by_channel = *operands[next++];
      const Values* limits = MakesBytes(e) ? operands[next++] : nullptr;
      for (size_t i = 0; i < out->size(); ++i) {
        const double factor = by_channel[i / inner % by_channel.size()];
        double& x = (*out)[i];
        if (e.kind == EpilogueKind::kShift) {
          x = Shifted(x, factor, *limits);
        } else if (limits != nullptr) {
          const double r = (*residual)[residual->size() == 1 ? 0 : i] - (*residual_zero)[0];
          x = Requantised(x, factor, r, (*residual_scale)[0], *limits);
        } else {
          x = whole ? Wrapped(x + factor) : x + factor;
        }
      }
    } else if (e.kind == EpilogueKind::kAdd && shifts) {
      const Values &r = *operands[next++], &by = *operands[next++];
      for (size_t i = 0; i < out->size(); ++i) {
        const double k = std::clamp(by[i / inner % by.size()], 0.0, 31.0);
        (*out)[i] = Wrapped((*out)[i] + std::ldexp(r[i], static_cast<int>(k)));
      }
    } else if (e.kind == EpilogueKind::kAdd && whole) {
      residual = operands[next++], residual_scale = operands[next++], residual_zero = operands[next++];
    } else if (e.kind == EpilogueKind::kAdd) {
      const Values& other = *operands[next++];
      for (size_t i = 0; i < out->size(); ++i) (*out)[i] += other[i];
    } else {
      const bool clip = e.kind == EpilogueKind::kClip;
      const double low = clip ? e.low : 0;
      const double high = clip ? e.high : e.kind == EpilogueKind::kRelu6 ? 6 : std::numeric_limits<double>::infinity();
      for (double& x : *out) x = std::min(std::max(x, low), high);  // keeps NaN
    }
  }
}

}  // namespace hone::semantics
