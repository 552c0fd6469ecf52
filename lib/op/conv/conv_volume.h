// A convolution of two or three dimensions seen as a three-dimensional one: shared by its templates.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "op/conv/conv2d_shape.h"
#include "op/epilogue.h"
#include "op/operator.h"
#include "te/tensor.h"

namespace hone::op {

// The third spatial axis; a two-dimensional convolution has these neutral values.
struct DepthAxis {
  int64_t in = 1, taps = 1, stride = 1, dilation = 1, before = 0, out = 1;
  // Extent of the padded input for `outputs` outputs.
  int64_t reach(int64_t outputs) const { return (outputs - 1) * stride + (taps - 1) * dilation + 1; }
};

struct ConvVolume {
  Conv2dShape s;  // of one depth
  DepthAxis depth;

  // For a conv2d or conv3d. REQUIRES: Check.
  static ConvVolume Of(const Workload& workload);
  int64_t taps() const { return depth.taps * s.kh * s.kw; }
  // Whether any window reaches outside the input.
  bool NeedsPad() const;
};

// The tensors around a convolution's sums: [n, c, d, h, w], always with a depth, blocked as the workload says.
struct ConvEnds {
  Tensor data, weight;             // weight: [o, c of one group, kd, kh, kw]
  std::vector<int64_t> out_shape;  // [n, oco, od, oh, ow, oci]
  EpilogueTensors epilogue;

  Computation MakeComputation(const Tensor& out) const { return {epilogue.After({data, weight}), {out}}; }
};
// `in_blocks` is the number of blocks of input channels (ignored for a plain input); `raw_cg` the number of channels of
// one group in the weight.
ConvEnds MakeConvEnds(const Workload& workload, const ConvVolume& volume, int64_t in_blocks, int64_t raw_cg, int lanes);
// "out": the sums with the epilogue. `sum` takes the output's indices, and is 0 or anything beyond its channels.
Tensor MakeConvOut(const Workload& workload, const ConvVolume& volume, const ConvEnds& ends,
                   const std::function<Expr(const std::vector<Var>&)>& sum, int lanes);
}  // namespace hone::op
