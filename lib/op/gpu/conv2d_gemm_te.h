// A convolution as a product of matrices, as the implicit GEMMs for GPUs see it:
//   weight.packed  [k, f]     the weights, transposed; zeros beyond what there is
//   windows        [n, k, p]  the input under position k of the window (channel, row, column) of pixel p
//   sums           [n, f, p]  over k; with several parts [s, n, f, p], each over its part of k, and `whole` adds up
//   out            [n, f, p]  with the epilogue
// What is computed may be larger than what there is, in every direction.
#pragma once

#include <string>
#include <vector>

#include "op/conv/conv2d_shape.h"
#include "op/operator.h"

namespace hone::op {

struct GpuGemmExtents {
  int64_t part = 0;  // rounds of the reduction of each part
  int64_t parts = 1;
  int64_t packed = 0;   // filters of weight.packed
  int64_t filters = 0;  // filters and pixels of sums
  int64_t pixels = 0;
  bool tf32 = false;  // both factors rounded to it: the weights when they are packed
};

struct GpuGemm {
  Conv2dShape shape;
  Instance instance;           // without steps
  std::string stored = "out";  // the stage that is tiled: the output, or the parts
  std::string acc = "sums";    // a thread's sums of it
};
GpuGemm MakeGpuGemm(const Workload& workload, const GpuGemmExtents& extents);

// The first steps, where there are several parts: they are sums of their own, and a kernel of its own adds them up. The
// name of the axis of images of `stored`.
std::string SeparateParts(const GpuGemm& gemm, const GpuGemmExtents& extents, std::vector<Step>* steps);

// `acc` in registers, its reduction split by `k` rounds each a multiple of the next: a step, and what is inside it.
// Both factors of a step are fetched into shared memory by all threads of the block, `stages` steps at once, weights as
// vectors of that many.
void FetchFactors(const GpuGemm& gemm, const GpuGemmExtents& extents, const std::vector<int64_t>& k,
                  const int64_t (&threads)[3], int64_t vector, int64_t stages, std::vector<Step>* steps);

}  // namespace hone::op
