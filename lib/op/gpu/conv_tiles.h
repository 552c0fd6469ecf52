// Convolutions with any groups and two or three dimensions on GPUs.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

// "conv_gpu_tiles": each thread sums some filters x some pixels, neighbouring threads neighbouring pixels; reads go
// through the caches.
const Template& GpuConvTiles();

// Their algorithm, "pixels": the stages "sums" and "out", with all pixels of an image along one axis.
Result<Computation> ComputeGpuPixels(const Workload& workload, const Target& target, const Algorithm& algorithm);

// The templates of a conv3d, or of a conv2d with groups; empty if there are fewer pixels than a warp has threads.
std::vector<const Template*> GpuConvTilesTemplates(const Workload& workload, const Target& target);

}  // namespace hone::op
