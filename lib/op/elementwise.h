// One value of each input makes one of the output: the functions of semantics/elementwise.h. Two inputs broadcast as
// numpy's do. Any rank; of rank 4 and 5 blocked, plain with layout=plain. Where all shapes are equal an epilogue may
// follow: `identity(f32[1,64,7,7]) + bias + clip(-1,1)`.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

std::vector<const Operator*> ElementwiseOperators();

}  // namespace hone::op
