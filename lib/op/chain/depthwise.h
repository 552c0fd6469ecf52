// A depthwise convolution and a 1x1 convolution without stride and padding as one kernel, in either order.
//
// chain_depthwise_conv2d: depthwise, then 1x1. A task is some rows; for `row_tile` rows at a time it computes the
// depthwise of all channels into scratch, and the 1x1 convolution of all output channels from there.
//   Knobs: ocv, tile_ow (register tile of the 1x1), dw_tile (columns of the depthwise's), row_block, row_tile,
//   inner ("oc_rows": a tile of weights meets all rows of a row tile; "rows_oc": a row meets all weights), unroll_ic.
//   Rules: registers, cycles, parallel, row tile, inner, scratch.
//
// chain_conv2d_depthwise: 1x1, then depthwise. A task is some rows of some channels; for `ocv` vectors of channels at a
// time it computes the 1x1 convolution's rows into scratch, and the depthwise from there. Rows that two tasks' windows
// share are computed by both.
//   Knobs: ocv, tile_ow, dw_tile, row_block, co_block, unroll_ic.
//   Rules: registers, cycles, parallel (with the rows made twice), co block, scratch.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Template& ChainDepthwiseConv();
const Template& ChainConvDepthwise();

}  // namespace hone::op
