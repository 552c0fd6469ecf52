// Convolutions on GPUs, NCHW. Names with a dot are AutoTVM's: these templates have its knobs, indices and mapping to
// blocks and threads (search/autotvm), so that its logs resolve.
#pragma once

#include <vector>

#include "op/conv/conv2d_shape.h"
#include "op/operator.h"

namespace hone::op {

const Template& GpuConv2dGemm();      // "conv2d_gpu_gemm": implicit GEMM; one group
const Template& GpuConv2dWinograd();  // "conv2d_gpu_winograd"; if GpuWinogradApplies
// "conv2d_nchw_winograd.cuda"; if GpuWinogradApplies. AutoTVM derives the tile from the shape.
const Template& GpuConv2dWinogradAutoTvm();

const Template& GpuConv2dTensor();  // "conv2d_gpu_tensor": implicit GEMM in TF32; if GpuConv2dTensorApplies

// The error that rounding both factors to TF32 adds to an output of order 1 (op::Computation::rounding): 2^-8. A
// rounding is off by at most 2^-11 of the value, 2^-12.3 in the root mean square; so a product by 2^-11.8, and a sum of
// products whose squares sum to 2, as measure/inputs.h makes them, by 2^-11.3 or 4e-4: the bound is nearly ten times
// that. A missing product is an error of about 1 / sqrt(length), above the bound for all lengths up to 65,000.
inline constexpr double kTf32Rounding = 1.0 / 256;
// The least cost of a multiply-add on tensor cores relative to one in f32: an eighth on A100 and H100 (1024 and 2048
// FLOP per clock and multiprocessor, against 128 and 256), less on later ones. Only bounds which times are plausible.
inline constexpr double kTf32Arithmetic = 1.0 / 16;

// Requires one group, at least 16 filters and 8 pixels, and a device with tensor cores.
bool GpuConv2dTensorApplies(const Conv2dShape& shape, const Target& target);

// Requires one group, a window of 3 x 3 or 5 x 5, stride and dilation 1, at least 2 x 2 outputs.
bool GpuWinogradApplies(const Conv2dShape& shape);

// The algorithms of these templates: "direct", "gemm" and "gemm_tf32" (conv2d_gemm_te.h), "winograd".
Result<Computation> ComputeGpuDirect(const Workload& workload, const Target& target, const Algorithm& algorithm);
Result<Computation> ComputeGpuGemm(const Workload& workload, const Target& target, const Algorithm& algorithm);
Result<Computation> ComputeGpuWinograd(const Workload& workload, const Target& target, const Algorithm& algorithm);

// The competing templates of a convolution; the first has a legal point for any shape. Empty for convolutions with too
// few values for a warp.
std::vector<const Template*> GpuConv2dTemplates(const Workload& workload, const Target& target);
// The templates of all convolutions.
std::vector<const Template*> AllGpuConv2dTemplates();

}  // namespace hone::op
