// conv2d_depthwise: one filter per channel (groups == C == O), blocked input: vectors over the lanes of a channel
// block, a register tile of pixels. conv2d_grouped_lanes: the same for 2, 4, .. channels in and out of each group,
// several groups per block: the lanes of a pixel are spread, one channel of each group over that group's lanes, and
// each such vector serves all taps of a row.
//
// Knobs: tile_oh, tile_ow (register tile), row_block (rows of one task of the parallel loop; each task has one block of
// channels), unroll ("kw", "window": which loops of the window are unrolled), pad ("border": no padded copy, separate
// code for the tiles at the left and right border, window rows outside are skipped; "copy": padded rows in each task;
// "none" if no window reaches outside). Rules: registers, register tile, code size, row block, border, parallel.
#pragma once

#include "op/conv/conv2d_shape.h"
#include "op/operator.h"

namespace hone::op {

const Template& Conv2dDepthwise();
const Template& Conv2dGroupedLanes();
// Their algorithm, "lanes": the stages "acc" and "out". pad=1: "pad", a padded copy of the input; pad=0: conditions.
Result<Computation> ComputeLanes(const Workload& workload, const Target& target, const Algorithm& algorithm);
// Requires as many channels out as in, fewer than a block per group, and whole groups in each block.
bool GroupedLanesApplies(const Conv2dShape& shape, int64_t lanes);

}  // namespace hone::op
