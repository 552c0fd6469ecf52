// A convolution over plain NCHW tensors as the templates for GPUs see it:
//   pad    the padded input [n, c, ih, iw], as far as windows reach; where there is no padding there is no such stage
//   conv   the sums [n, f, y, x] over rc, ry, rx
//   out    with the epilogue
#pragma once

#include <string>
#include <vector>

#include "op/conv/conv2d_shape.h"
#include "op/epilogue.h"
#include "op/operator.h"
#include "te/tensor.h"

namespace hone::op {

struct GpuConv2d {
  Conv2dShape shape;
  te::Tensor data, weight, pad, conv, out;  // pad undefined without padding
  EpilogueTensors epilogue;

  const te::Tensor& input() const { return pad.defined() ? pad : data; }
  // Axes of a copy of input().
  std::vector<std::string> InputAxes() const;
  Instance MakeInstance() const;  // without steps
};
GpuConv2d MakeGpuConv2d(const Workload& workload);

// Of a kernel that reads `data` and `kernel_weight`: the weight itself, or what is packed from it. Without steps.
Instance MakeGpuInstance(const te::Tensor& data, const te::Tensor& weight, const te::Tensor& kernel_weight,
                         const EpilogueTensors& epilogue, const te::Tensor& out);

// The output of that shape with its epilogue over a tensor of sums [n, f, pixels..], which may be larger; axes n, f,
// then `axes`.
te::Tensor WithEpilogue(const Workload& workload, const EpilogueTensors& epilogue, const te::Tensor& sums,
                        const std::vector<int64_t>& shape, const std::vector<std::string>& axes);

}  // namespace hone::op
