// dense from its definition, in double precision.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

void DenseReference(const Workload& workload, const std::vector<Operand>& operands, const std::vector<float*>& buffers);

}  // namespace hone::op
