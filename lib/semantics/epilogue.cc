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

Status CheckIntegers(const Workload& w) {
  for (size_t i = 0, count = w.epilogue.size(); i < count; ++i) {
    const EpilogueOp& e = w.epilogue[i];
    const bool before_last = i + 2 == count && w.epilogue.back().kind == EpilogueKind::kRequant;
    if (e.kind == EpilogueKind::kBias || (e.kind == EpilogueKind::kRequant && i + 1 == count)) continue;
    if (e.kind == EpilogueKind::kAdd && !e.type.is_float() && before_last) continue;
    return Status::Invalid(w.op +
                           ": after a sum of integers, only `bias` can follow, and `add(u8)` and `requant(u8)` " +
                           "(or i8) as the last ones");
  }
  return Status();
}

}  // namespace

size_t OperandsOf(const EpilogueOp& op) {
  if (op.kind == EpilogueKind::kRequant) return 2;
  if (op.kind == EpilogueKind::kAdd) return op.type.is_float() ? 1 : 3;
  return op.kind == EpilogueKind::kBias ? 1 : 0;
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
    const bool channels = e.kind == EpilogueKind::kBias || e.kind == EpilogueKind::kRequant;
    if (channels && output.shape.size() < 2) {
      const char* name = e.kind == EpilogueKind::kBias ? "bias" : "requant";
      return Status::Invalid("{}: a {} needs an output with channels (axis 1)", w.op, name);
    }
    if (!e.type.is_float() && output.type.is_float()) {
      return Status::Invalid("{}: {} needs sums of integers", w.op,
                             e.kind == EpilogueKind::kAdd ? "add(u8)" : "requant");
    }
    if (e.kind == EpilogueKind::kRequant) after.type = e.type;
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
  for (const EpilogueOp& e : w.epilogue) {
    if (e.kind == EpilogueKind::kBias) types.push_back({output.type, {output.shape[1]}});
    if (e.kind == EpilogueKind::kAdd) types.push_back({e.type, output.shape});
    if (e.kind == EpilogueKind::kAdd && !e.type.is_float()) {
      types.push_back({DType::Float(32), {1}});
      types.push_back({e.type, {1}});
    }
    if (e.kind != EpilogueKind::kRequant) continue;
    types.push_back({DType::Float(32), {output.shape[1]}});
    types.push_back({e.type, {3}});
  }
  return types;
}

double EpilogueFlop(const Workload& w) {
  double flop = 0;
  for (const EpilogueOp& e : w.epilogue) {
    const bool one = e.kind == EpilogueKind::kBias || e.kind == EpilogueKind::kAdd || e.kind == EpilogueKind::kRelu;
    flop += one ? 1 : e.kind == EpilogueKind::kRequant ? 4 : 2;
  }
  return flop;
}

void EvaluateEpilogue(const Workload& w, const std::vector<const Values*>& operands, const Shape& shape, Values* out) {
  size_t next = 0;
  const bool whole = !w.inputs[0].type.is_float();
  const Values zero = {0};
  const Values *residual = &zero, *residual_scale = &zero, *residual_zero = &zero;
  for (const EpilogueOp& e : w.epilogue) {
    if (e.kind == EpilogueKind::kBias || e.kind == EpilogueKind::kRequant) {
      const Values& by_channel = *operands[next++];
      const Values* limits = e.kind == EpilogueKind::kRequant ? operands[next++] : nullptr;
      const size_t inner = static_cast<size_t>(Product(shape, 2, shape.size()));
      for (size_t i = 0; i < out->size(); ++i) {
        const double factor = by_channel[i / inner % by_channel.size()];
        double& x = (*out)[i];
        if (limits != nullptr) {
          const double r = (*residual)[residual->size() == 1 ? 0 : i] - (*residual_zero)[0];
          x = Requantised(x, factor, r, (*residual_scale)[0], *limits);
        } else {
          x = whole ? Wrapped(x + factor) : x + factor;
        }
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
