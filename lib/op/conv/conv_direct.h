// conv2d_direct and conv3d_direct: NCHWc with a register tile of output-channel vectors x output pixels, weights packed
// so that each tile reads one stream. For groups == 1 and for groups whose channels are multiples of the block; a plain
// input (first layer) is reduced over its real channels. For a 1x1 convolution without stride and padding, the pixels
// are divided into new rows. Two dimensions are three with a depth of one. A plane is one depth of one image of the
// output.
//
// Knobs (in order; the first is the least significant digit of the index):
//   ocv         output-channel vectors of the register tile
//   tile_oh     rows of the register tile (more than one only for narrow outputs)
//   tile_ow     columns of the register tile
//   oc_block    output-channel vectors of one task of the parallel loop
//   row_block   output rows of one task
//   inner       order in a task: "oc_rows" (a weight tile is used for all rows) or "rows_oc" (a row uses all weights)
//   ic_block    blocks of input channels inside the kernel window's loops: 1 = channels outermost, all = window
//               outermost (windows only)
//   unroll_ic   input channels unrolled
//   unroll_kw   1: the window's columns are unrolled as well
//   prefetch    weights to fetch ahead: "none" (the only value below 128 KB), "4096" bytes ahead into the first-level
//               cache, "tile": in addition, spread over the work of this tile, the next tile's into the second
//   pad         where the padded input is made: "task" (private, in each task) or "root" (once, for all threads).
//               "skip", if a quarter of the taps or more lie in padding: rows of taps in padding are skipped; columns
//               as well if a tile has whole rows, else a copy has padded columns
//   fetch       "tile": the next input-channel block of the tile's pixels, and the tile's lines of the output (for
//               writing) and of residuals, spread over its reduction; 1x1 with several blocks only
//   planes      planes of one task: a tile of weights is used for all of them before the next one is read. Only in
//   spaces
//               of layers with several planes; 1 if weights stay near the core anyway
// Rules: registers, register tile, cycles, code size, parallel, oc block, row block, inner, weights cache, pad, planes.
#pragma once

#include "op/conv/conv2d_shape.h"
#include "op/operator.h"

namespace hone::op {

const Template& Conv2dDirect();
const Template& Conv3dDirect();

// Their algorithms: "direct" has the stages "pad" (with padding), "acc" and "out". "skip" adds only taps inside the
// input; columns=1: and has no stage "pad"; columns=0: "pad" has the input with padded columns.
Result<Computation> ComputeDirect(const Workload& workload, const Target& target, const Algorithm& algorithm);
bool DirectApplies(const Conv2dShape& shape, int64_t lanes);

// conv2d_grouped_generic and conv3d_grouped_generic: any groups, no knobs; for layers that the templates above do not
// accept. The padded input is made plain, its columns sorted by their phase of the stride. A register tile of rows x
// channels of a group x a vector along a row reduces over it into a plain result, which is blocked last.
const Template& Conv2dGrouped();
const Template& Conv3dGrouped();
// Their algorithm, "grouped".
Result<Computation> ComputeGrouped(const Workload& workload, const Target& target, const Algorithm& algorithm);

// The algorithm "lanes" of blocked input, for depthwise convolutions (groups == C == O): vectors over the lanes of a
// channel block. And for 2, 4, .. channels in and out of each group, several groups per block: the lanes of a pixel are
// spread, one channel of each group over that group's lanes, and each such vector serves all taps of a row. Stages "acc"
// and "out". pad=1: "pad", a padded copy of the input; pad=0: conditions.
Result<Computation> ComputeLanes(const Workload& workload, const Target& target, const Algorithm& algorithm);
// Requires as many channels out as in, fewer than a block per group, and whole groups in each block.
bool GroupedLanesApplies(const Conv2dShape& shape, int64_t lanes);

}  // namespace hone::op
