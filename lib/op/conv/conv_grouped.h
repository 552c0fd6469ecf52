// conv2d_grouped_generic and conv3d_grouped_generic: any groups, no knobs; for layers that conv_direct.h does not
// accept. The padded input is made plain, its columns sorted by their phase of the stride. A register tile of rows x
// channels of a group x a vector along a row reduces over it into a plain result, which is blocked last.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Template& Conv2dGrouped();
const Template& Conv3dGrouped();
// Their algorithm, "grouped".
Result<Computation> ComputeGrouped(const Workload& workload, const Target& target, const Algorithm& algorithm);

}  // namespace hone::op
