// Shapes as stored, and the checks that all operators share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "op/operator.h"
#include "task/workload.h"

namespace hone::op {

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t RoundUp(int64_t a, int64_t b) { return CeilDiv(a, b) * b; }

// [N,C,H,W] -> [N, ceil(C/lanes), H, W, lanes], [N,C,D,H,W] likewise. REQUIRES: four or five extents.
std::vector<int64_t> BlockedShape(const std::vector<int64_t>& shape, int lanes);
// Activations of rank 4 and 5 are blocked, all others plain.
Layout ActivationLayout(const TensorType& type);
Operand MakeOperand(std::string name, OperandRole role, const TensorType& type, Layout layout, int lanes);
// An activation in its usual layout.
Operand Activation(std::string name, OperandRole role, const TensorType& type, int lanes);

// The whole operand as plain doubles (lanes beyond C dropped), and back (those lanes zero), rounded to float.
std::vector<double> ReadPlain(const Operand& operand, const float* stored);
void WritePlain(const Operand& operand, const std::vector<double>& plain, float* stored);

// The number of inputs, f32, extents of at least 1, at most semantics::kMaxElements elements each.
Status CheckInputs(const Workload& workload, size_t inputs);
Status CheckRank(const Workload& workload, size_t input, size_t rank);
// f32 outputs that would be larger than that are refused, too.
Status CheckOutput(const Workload& workload, const std::vector<int64_t>& shape);
// Every attribute is one of `known`, each at most once; a suggestion for the others.
Status CheckAttributeNames(const Workload& workload, const std::vector<std::string>& known);
// If present: `count` numbers (or one, which stands for all), each in low .. high.
Status CheckNumbers(const Workload& workload, const std::string& name, size_t count, int64_t low, int64_t high);
Status CheckNoEpilogue(const Workload& workload);

// `count` numbers: one given stands for all.
std::vector<int64_t> ExpandedNumbers(const Workload& workload, const std::string& name, size_t count, int64_t fallback);
// Appends name=values unless all are `fallback`.
void AddCanonical(Workload* workload, const std::string& name, const std::vector<int64_t>& values, char separator,
                  int64_t fallback);

}  // namespace hone::op
