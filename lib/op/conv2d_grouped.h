// conv2d_grouped_generic: any groups, blocked or plain input. Three stages over whole tensors: a plain padded input, a
// plain result vectorised over output columns, the blocked output with its epilogue. No knobs; correctness first, as
// such layers are rare.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Template& Conv2dGrouped();

}  // namespace hone::op
