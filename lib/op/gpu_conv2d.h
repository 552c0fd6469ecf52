// Convolutions on GPUs, NCHW. Names that contain a dot are those of AutoTVM, whose knobs, indices and mapping to blocks
// and threads these templates have (search/autotvm); its logs resolve.
#pragma once

#include <vector>

#include "op/conv2d_shape.h"
#include "op/operator.h"

namespace hone::op {

const Template& GpuConv2dDirect();     // "conv2d_nchw.cuda"; one group
const Template& GpuConv2dDepthwise();  // "depthwise_conv2d_nchw.cuda"
const Template& GpuConv2dGemm();       // "conv2d_gpu_gemm": implicit GEMM; one group
const Template& GpuConv2dWinograd();   // "conv2d_gpu_winograd"; where GpuWinogradApplies
const Template& GpuConv2dPlain();      // "conv2d_gpu": any; no knobs
// "conv2d_nchw_winograd.cuda"; where GpuWinogradApplies. AutoTVM's tile follows from the shape.
const Template& GpuConv2dWinogradAutoTvm(const Conv2dShape& shape);

// One group, a window of 3 x 3 or 5 x 5, stride and dilation 1, at least 2 x 2 outputs.
bool GpuWinogradApplies(const Conv2dShape& shape);

// Those that compete for a convolution; the first has a legal point for any of its shapes.
std::vector<const Template*> GpuConv2dTemplates(const Workload& workload, const Target& target);

}  // namespace hone::op
