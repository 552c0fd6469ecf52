// Epilogues: operations on each value of a layer's output before it is stored.
#pragma once

#include <vector>

#include "base/status.h"
#include "semantics/semantics.h"
#include "task/workload.h"

namespace hone::semantics {

inline bool IsOperand(EpilogueKind kind) { return kind == EpilogueKind::kBias || kind == EpilogueKind::kAdd; }

// Checks whether this epilogue may follow. A bias needs a channel axis (axis 1), a clip low <= high, and the operator
// the trait that allows an epilogue.
Status CheckEpilogue(const Workload& workload, const TensorType& output);
// FLOP per output element: one per operation, two for a clip or relu6.
double EpilogueFlop(const Workload& workload);
// Applies the epilogue in place to the output's values. `operands` are the epilogue's, plain.
void EvaluateEpilogue(const Workload& workload, const std::vector<const Values*>& operands, const Shape& shape,
                      Values* out);

}  // namespace hone::semantics
