// chain_conv2d_depthwise_conv2d: a 1x1 convolution, a depthwise one and another 1x1 (a block of MobileNet-v2) as one
// kernel. A task is some rows; for `row_tile` rows at a time it computes the first convolution's rows under them, all
// channels, then the depthwise, then the last convolution. The first convolution's rows that two row tiles share are
// computed for both.
//
// Knobs: ocv, tile_ow (register tile of the last convolution; that of the first is the one of the fewest cycles),
// dw_tile, row_block (rows of a task), row_tile. Rules: registers, cycles, parallel, rows (those that are made twice,
// and scratch beyond a core's cache).
#pragma once

#include "op/operator.h"

namespace hone::op {

const Template& ChainBottleneck();

}  // namespace hone::op
