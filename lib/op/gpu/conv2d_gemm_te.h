// A convolution as a product of matrices, as the implicit GEMMs for GPUs see it:
//   weight.whole  [f, k]     the weights, with zeros beyond their end
//   windows       [n, k, p]  the input under position k of the window (channel, row, column) of pixel p
//   sums          [n, f, p]  over k; with several parts [s, n, f, p], each over its part of k, and `whole` adds up
//   out           [n, f, p]  with the epilogue
// In every direction, more may be computed than exists. The algorithms are "gemm(k, parts)", with k iterations in each
// of `parts` of the reduction, and "gemm_tf32(k, parts, filters, pixels)", which also states how many filters and
// pixels are computed and rounds both factors to TF32, the weights when they are packed. The templates store the
// weights as weight.packed [k, f].
#pragma once

#include <string>
#include <vector>

#include "op/conv/conv2d_shape.h"
#include "op/operator.h"

namespace hone::op {

// The convolution as its GEMM templates see it.
struct GpuGemmShape {
  Conv2dShape s;
  explicit GpuGemmShape(const Workload& workload) : s(Conv2dShape::Of(workload)) {}
  int64_t pixels() const { return s.oh * s.ow; }
  int64_t depth() const { return s.cg * s.kh * s.kw; }
  // Iterations of each of `parts` of the reduction, in whole steps of `step`.
  int64_t part(int64_t parts, int64_t step) const;
};

// The names of the stages of a reduction in `parts`, and the number of computed filters.
struct GpuGemmStages {
  GpuGemmStages(int64_t parts, int64_t filters) : filters(filters), split(parts > 1), stored(split ? "sums" : "out") {
    acc = split ? "sums.acc" : "sums";
  }
  int64_t filters;
  bool split;
  std::string stored;  // the tiled stage: the output, or the parts
  std::string acc;     // a thread's sums of it
};

// The first steps if there are several parts: their sums are separate, and another kernel adds them up. Returns the
// name of the axis of images of `stored`.
std::string SeparateParts(const GpuGemmStages& gemm, std::vector<Step>* steps);

// Packs the weights, and keeps `acc` in registers, its reduction split by `k`, each a multiple of the next: a step, and
// its inner loops. All threads of the block fetch both factors of a step into shared memory, `stages` steps at once,
// weights as vectors if the device has them. REQUIRES: whole vectors of filters in a block
void FetchFactors(const GpuGemmStages& gemm, const std::vector<int64_t>& k, const int64_t (&threads)[3],
                  const DeviceLimits& limits, int64_t stages, std::vector<Step>* steps);

}  // namespace hone::op
