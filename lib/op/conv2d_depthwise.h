// conv2d_depthwise: one filter a channel (groups == C == O), blocked input: vectors over the lanes of a channel block,
// a register tile of pixels.
//
// Knobs: tile_oh, tile_ow (register tile), row_block (rows of one task of the parallel loop; each task has one block of
// channels), unroll ("none", "kw", "window": which loops of the window are unrolled). Rules: registers, register tile,
// code size, parallel.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Template& Conv2dDepthwise();

}  // namespace hone::op
