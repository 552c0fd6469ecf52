// The inputs that candidates run on: the same on every machine, for ever, for a given protocol version.
//
// Values depend on the operand's name and the logical index alone, not on how a target stores it. Data (activations,
// residuals) is uniform with deviation 1; a weight [O, ...] is scaled by sqrt(2 / fan-in) as He et al. do, so that
// outputs are of order 1 at any reduction length; a bias is uniform in (-0.5, 0.5). None of them is 0, so that a kernel
// that reads the wrong place cannot be right by luck.
#pragma once

#include <cstdint>
#include <vector>

#include "measure/kernel.h"
#include "task/tensor_data.h"

namespace hone::measure {

inline constexpr int kInputsVersion = 1;

// The operand as the target stores it: zeros in padded lanes. The output operand: NaN everywhere, zeros if its type has
// none. Integers are uniform in -128 .. 127, or 0 .. 255 where they have no sign, without 0.
TensorData MakeInput(const Operand& operand);

// How many products each output element adds up: the largest fan-in among constants of rank 2 and more; 1 without any.
int64_t ReductionLength(const std::vector<Operand>& operands);

}  // namespace hone::measure
