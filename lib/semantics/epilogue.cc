#include "semantics/epilogue.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hone::semantics {
namespace {

// The sum with the bias wraps around, as in i32.
double Wrapped(double sum) { return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(sum))); }

double Requantised(double sum, double multiplier, const Values& limits) {
  const float product = static_cast<float>(static_cast<int32_t>(sum)) * static_cast<float>(multiplier);
  const double zero = limits[0], least = limits[1], most = limits[2];
  if (std::isnan(product)) return least;
  return std::min(std::max(std::nearbyint(static_cast<double>(product)) + zero, least), most);
}

Status CheckIntegers(const Workload& w) {
  for (size_t i = 0; i < w.epilogue.size(); ++i) {
    const EpilogueKind kind = w.epilogue[i].kind;
    if (kind == EpilogueKind::kBias || (kind == EpilogueKind::kRequant && i + 1 == w.epilogue.size())) continue;
    return Status::Invalid(w.op + ": after a sum of integers, only `bias` and a last `requant(u8)` or `requant(i8)` " +
                           "can follow");
  }
  return Status();
}

}  // namespace

size_t OperandsOf(EpilogueKind kind) {
  if (kind == EpilogueKind::kRequant) return 2;
  return kind == EpilogueKind::kBias || kind == EpilogueKind::kAdd ? 1 : 0;
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
    if (e.kind == EpilogueKind::kRequant && output.type.is_float()) {
      return Status::Invalid(w.op + ": requant needs sums of integers");
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
    if (e.kind == EpilogueKind::kAdd) types.push_back(output);
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
  for (const EpilogueOp& e : w.epilogue) {
    if (e.kind == EpilogueKind::kBias || e.kind == EpilogueKind::kRequant) {
      const Values& by_channel = *operands[next++];
      const Values* limits = e.kind == EpilogueKind::kRequant ? operands[next++] : nullptr;
      const size_t inner = static_cast<size_t>(Product(shape, 2, shape.size()));
      for (size_t i = 0; i < out->size(); ++i) {
        const double factor = by_channel[i / inner % by_channel.size()];
        double& x = (*out)[i];
        x = limits != nullptr ? Requantised(x, factor, *limits) : whole ? Wrapped(x + factor) : x + factor;
      }
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
