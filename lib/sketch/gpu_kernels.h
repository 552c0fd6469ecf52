// The kernels of a computation on a GPU: what a rule asks about all of its stages. For the rule `gpu_stages`.
#pragma once

#include <cstdint>
#include <vector>

#include "te/tensor.h"

namespace hone::sketch {

// One stage that is stored, and what its threads compute in registers before they store an element.
struct GpuKernel {
  const te::TensorNode* stage = nullptr;
  // The stage itself if it is a reduction; else reductions with as many values that only this stage reads.
  std::vector<const te::TensorNode*> sums;
  double operations = 0;  // arithmetic and loads for one element
  double bytes = 0;       // of global memory that all threads read and write together, in whole sectors

  int64_t Elements() const;
  int64_t Steps() const;  // of its longest reduction; 1 without one
};

struct GpuKernels {
  te::Tensor output;                         // keeps the nodes
  std::vector<const te::TensorNode*> again;  // computed again by each reader
  std::vector<GpuKernel> kernels;            // each after those that it reads; the output is the last one
};

// `again`: element-wise stages beside the output are computed again in each reader, else each is a kernel.
GpuKernels GpuKernelsOf(const te::Tensor& output, bool again);

}  // namespace hone::sketch
