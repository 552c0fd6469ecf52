// One value in, one value out: relu, relu6, sigmoid, tanh, exp, identity (one input), add, mul (two inputs of one
// shape). Any rank; rank 4 is blocked. All take an epilogue: `identity(f32[1,64,7,7]) + bias + clip(-1,1)`.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

// All of them, in the order above.
std::vector<const Operator*> ElementwiseOperators();

}  // namespace hone::op
