// The inputs that candidates run on: the same on every machine, forever, for a given protocol version.
//
// Values depend only on the operand's name and the logical index, not on how a target stores it. Data (activations,
// residuals) is uniform with deviation 1; a weight [O, ...] is scaled by sqrt(2 / fan-in) as in He et al., so that
// outputs are of order 1 at any reduction length; a bias is uniform in (-0.5, 0.5). No value is 0, so that a kernel
// that reads the wrong place cannot be right by luck.
#pragma once

#include <cstdint>
#include <vector>

#include "task/operand.h"
#include "task/tensor_data.h"

namespace hone::measure {

inline constexpr int kInputsVersion = 1;

// The operand as the target stores it, with zeros in padded lanes. The output operand is filled with NaN, or with zeros
// if its type has no NaN. Integers are uniform in -128 .. 127, or in 0 .. 255 if unsigned, without 0.
// The operands of a requant: multipliers are 2^-14 .. 2^-6, and the zero point lies between the limits. Shifts are by
// -3 to 14, and those of residuals by 0 to 15.
TensorData MakeInput(const Operand& operand);

// The number of products that each output element sums: the largest fan-in among constants of rank 2 and more; 1
// without such constants.
int64_t ReductionLength(const std::vector<Operand>& operands);

}  // namespace hone::measure
