// softmax(f32[N,K]): exp(x - max) / sum of those, over the last axis. Plain.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Operator& Softmax();

}  // namespace hone::op
