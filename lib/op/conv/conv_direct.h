// Convolutions over blocks of channels: the plain algorithm, and those for groups.
#pragma once

#include "op/conv/conv2d_shape.h"
#include "op/operator.h"

namespace hone::op {

// The algorithm "direct": stages "pad" (with padding), "acc" and "out", for one group, and for up to 16 that merge into
// whole blocks of channels or into one group. The pixels of a 1x1 convolution without stride and padding are divided
// into new rows; two dimensions are three with a depth of one. "skip" adds only taps inside the input; columns=1: and
// has no stage "pad"; columns=0: "pad" has the input with padded columns.
Result<Computation> ComputeDirect(const Workload& workload, const Target& target, const Algorithm& algorithm);
bool DirectApplies(const Conv2dShape& shape, int64_t lanes);
// "skip", if it leaves out a quarter of the taps or more. REQUIRES: DirectApplies.
std::vector<OtherAlgorithm> SkipAlgorithms(const Workload& workload, const Target& target);

// conv2d_grouped_generic and conv3d_grouped_generic: any groups, no knobs; for layers that "direct" does not take. The
// padded input is made plain, its columns sorted by their phase of the stride. A register tile of rows x channels of a
// group x a vector along a row reduces over it into a plain result, which is blocked last.
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
