// The convolution from its definition, in double precision.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

// `operands`: conv2d's; `buffers`: their storage, the output last.
void Conv2dReference(const Workload& workload, const std::vector<Operand>& operands,
                     const std::vector<float*>& buffers);

}  // namespace hone::op
