// conv2d_depthwise: one filter a channel (groups == C == O), blocked input: vectors over the lanes of a channel block,
// a register tile of pixels.
//
// Knobs: tile_oh, tile_ow (register tile), row_block (rows of one task of the parallel loop; each task has one block of
// channels), unroll ("kw", "window": which loops of the window are unrolled), pad ("border": no padded copy, the tiles
// at the left and right border are code of their own and window rows outside are skipped; "copy": padded rows in each
// task; "none" where no window reaches outside). Rules: registers, register tile, code size, row block, border, parallel.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Template& Conv2dDepthwise();

}  // namespace hone::op
