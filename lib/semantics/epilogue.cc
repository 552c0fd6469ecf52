#include "semantics/epilogue.h"

#include <algorithm>
#include <limits>

namespace hone::semantics {

Status CheckEpilogue(const Workload& w, const TensorType& output) {
  if (w.epilogue.empty()) return Status();
  const Definition& d = DefinitionOf(w);
  if (!d.layer && !d.elementwise) return Status::Invalid(w.op + ": takes no epilogue (`+ ...`)");
  if (d.elementwise && std::any_of(w.inputs.begin(), w.inputs.end(), [&](auto& t) { return t != output; })) {
    return Status::Invalid(w.op + ": an epilogue needs inputs of the output's shape");
  }
  for (const EpilogueOp& e : w.epilogue) {
    if (e.kind == EpilogueKind::kBias && output.shape.size() < 2) {
      return Status::Invalid(w.op + ": a bias needs an output with channels (axis 1)");
    }
    if (e.kind == EpilogueKind::kClip && !(e.low <= e.high)) {
      return Status::Invalid("{}: clip({},{}): low must not exceed high", w.op, e.low, e.high);
    }
  }
  return Status();
}

double EpilogueFlop(const Workload& w) {
  double flop = 0;
  for (const EpilogueOp& e : w.epilogue) flop += IsOperand(e.kind) || e.kind == EpilogueKind::kRelu ? 1 : 2;
  return flop;
}

void EvaluateEpilogue(const Workload& w, const std::vector<const Values*>& operands, const Shape& shape, Values* out) {
  size_t next = 0;
  for (const EpilogueOp& e : w.epilogue) {
    if (e.kind == EpilogueKind::kBias) {
      const Values& bias = *operands[next++];
      const size_t inner = static_cast<size_t>(Product(shape, 2, shape.size()));
      for (size_t i = 0; i < out->size(); ++i) (*out)[i] += bias[i / inner % bias.size()];
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
