// Hone's operators, for registry.cc, which calls each function once: the lists are new and never destroyed. The file
// that defines an operator describes it at its top.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

const Operator& Conv2d();
const Operator& Conv3d();
const Operator& Dense();
const Operator& Matmul();
// The operator of all groups: several workloads as one kernel.
const Operator& Chain();
std::vector<const Operator*> PoolOperators();
std::vector<const Operator*> TransposedConvOperators();
std::vector<const Operator*> ElementwiseOperators();
std::vector<const Operator*> MovementOperators();
std::vector<const Operator*> NormOperators();
std::vector<const Operator*> ReduceOperators();

}  // namespace hone::op
