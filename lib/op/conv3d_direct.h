// conv3d_direct: the scheme of conv2d_direct with a third tap and a third output axis: blocked activations, a register
// tile of output-channel vectors x output pixels of one depth, weights packed so that each tile reads one stream. A
// plain input (first layer) is reduced over its real channels. For one group; conv3d_grouped_generic takes the rest.
//
// Knobs (in order; the first is the least significant digit of the index):
//   ocv        output-channel vectors of the register tile
//   tile_oh    its rows (more than one only for narrow outputs)
//   tile_ow    its columns
//   oc_block   output-channel vectors of one task of the parallel loop
//   row_block  output rows of one task (which has one depth)
//   inner      order in a task: "oc_rows" (a weight tile meets all rows) or "rows_oc" (a row meets all weights)
//   unroll_ic  input channels unrolled
//   prefetch   distance of the software prefetch in the weight stream, bytes; 0 = none
//   pad        where the padded input is made: "task" (private, in each task) or "root" (once, for all threads)
// Rules: registers, register tile, code size, blocks, parallel, inner, pad.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Template& Conv3dDirect();
// Any groups: pad, plain result in vectors along a row, blocked result. No knobs.
const Template& Conv3dGrouped();

}  // namespace hone::op
