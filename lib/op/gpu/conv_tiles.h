// Convolutions of any groups and of two or three dimensions on GPUs.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

// "conv_gpu_tiles": each thread adds up some filters x some pixels, neighbouring threads neighbouring pixels; what they
// read comes by way of the caches.
const Template& GpuConvTiles();
const Template& GpuConvPlain();  // "conv_gpu": any; no knobs

// Their algorithm, "pixels": the stages "sums" and "out", all pixels of an image along one axis.
Result<Computation> ComputeGpuPixels(const Workload& workload, const Target& target, const Algorithm& algorithm);

// Those of a conv3d, or of a conv2d that has groups: one that any layer can have among them, first if it is all.
std::vector<const Template*> GpuConvTilesTemplates(const Workload& workload, const Target& target);

}  // namespace hone::op
