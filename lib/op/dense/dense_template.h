// The template of dense: see op/dense/dense.h.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Template& DensePacked();

}  // namespace hone::op
