// Epilogues: what is done to each value of a layer's output before it is stored.
#pragma once

#include <vector>

#include "base/status.h"
#include "semantics/semantics.h"
#include "task/workload.h"

namespace hone::semantics {

inline bool IsOperand(EpilogueKind kind) { return kind == EpilogueKind::kBias || kind == EpilogueKind::kAdd; }

// May this epilogue follow? A bias needs a channel axis (axis 1), a clip low <= high, and an operator without traits
// for it takes none.
Status CheckEpilogue(const Workload& workload, const TensorType& output);
// FLOP an output element: one an operation, two for a clip or relu6.
double EpilogueFlop(const Workload& workload);
// Applies it in place to the output's values. `operands`: the epilogue's, plain.
void EvaluateEpilogue(const Workload& workload, const std::vector<const Values*>& operands, const Shape& shape,
                      Values* out);

}  // namespace hone::semantics
