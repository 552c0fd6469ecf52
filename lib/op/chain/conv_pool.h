// chain_conv2d_pool: a convolution with groups == 1 and any window, then a max or average pool. A task is some pooled
// rows of some channels; for `ocv` vectors of channels at a time it computes the convolution's rows into scratch and
// pools them from there. Rows that two tasks' windows share are computed by both.
//
// Knobs: ocv, tile_ow (register tile of the convolution), co_block (channel vectors of a task), row_block (pooled rows
// of a task), unroll_ic. Rules: registers, cycles, parallel (with the rows made twice), co block, scratch.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Template& ChainConvPool();

}  // namespace hone::op
