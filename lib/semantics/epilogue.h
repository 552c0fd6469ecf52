// Epilogues: operations on each value of a layer's output before it is stored.
//
// `requant(T)` ends the epilogue of a sum s of integers, with the operands m (multiplier, f32 for each channel) and
// limits (zero point, least, most: of type T). The output is
//
//   clamp(round(f32(s) * m) + zero, least, most)
//
// or, behind `add(U)`, whose operands are a residual r of U = u8 or i8, its scale c (f32) and its zero point:
//
//   clamp(round(fma(f32(r - zero_r), c, f32(s) * m)) + zero, least, most)
//
// f32(s), the product and the fma are rounded once each, to nearest and ties to even as in `round`. The rest is exact:
// there is one right answer, the same bits everywhere. Kernels clamp to least - zero and most - zero before they round,
// which is the same, as the limits are whole numbers.
//
// `shift(T)` ends it in integers only, with the operands n (shift, i32 for each channel) and limits (least, most):
//
//   clamp((s + 2^(n-1)) >> n, least, most)  for n > 0,     clamp(s << -n, least, most)  otherwise
//
// in numbers without limit, so that nothing wraps around or saturates before the clamp, and any n has a meaning: the
// value is s / 2^n rounded to the nearest, ties upwards. Behind `add(U)`, whose operands are a residual r of U and a
// shift k (i32 for each channel, 0 to 31; others count as the nearest of these), s is s + r * 2^k, which wraps around
// in i32, as the sum with a bias does.
#pragma once

#include <vector>

#include "base/status.h"
#include "semantics/semantics.h"
#include "task/workload.h"

namespace hone::semantics {

// relu, relu6 and clip: those without operands.
bool IsActivation(const EpilogueOp& op);
// requant and shift: those that make bytes of a sum of integers.
inline bool MakesBytes(const EpilogueOp& op) {
  return op.kind == EpilogueKind::kRequant || op.kind == EpilogueKind::kShift;
}
// How many operands the epilogue adds. For a single workload, checked or not.
size_t EpilogueOperandCount(const Workload& workload);

// Checks whether this epilogue may follow the operator's `output`, and returns the type after it. A bias needs a
// channel axis (axis 1), a clip low <= high, the operator the trait that allows an epilogue. After sums of integers,
// only biases, an `add(U)` and a `requant` or `shift` may follow, in this order, and no `add(U)` without the latter.
Result<TensorType> AfterEpilogue(const Workload& workload, const TensorType& output);
// The operator's output before the epilogue. For a single workload; errors as InferOutput.
Result<TensorType> InferAnchor(const Workload& workload);
// The types of the epilogue's operands, in order. REQUIRES: InferOutput accepts the workload, which is no group.
std::vector<TensorType> EpilogueTypes(const Workload& workload);
// FLOP per output element: one per operation, two for a clip or relu6, four for a requant or shift.
double EpilogueFlop(const Workload& workload);
// Applies the epilogue in place to the output's values. `operands` are the epilogue's, plain.
void EvaluateEpilogue(const Workload& workload, const std::vector<const Values*>& operands, const Shape& shape,
                      Values* out);

}  // namespace hone::semantics
