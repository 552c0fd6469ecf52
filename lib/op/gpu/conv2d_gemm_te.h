// A convolution as a product of matrices, as the implicit GEMMs for GPUs see it:
//   weight.packed  [k, f]     the weights, transposed; zeros beyond what there is
//   windows        [n, k, p]  the input under position k of the window (channel, row, column) of pixel p
//   sums           [n, f, p]  over k; with several parts [s, n, f, p], each over its part of k, and `whole` adds up
//   out            [n, f, p]  with the epilogue
// What is computed may be larger than what there is, in every direction. The algorithms are "gemm(k, parts)", with k
// rounds in each of `parts` of the reduction, and "gemm_tf32(k, parts, filters, pixels)", which also says how many
// filters and pixels are computed and rounds both factors to TF32, the weights when they are packed.
#pragma once

#include <string>
#include <vector>

#include "op/conv/conv2d_shape.h"
#include "op/operator.h"

namespace hone::op {

// The convolution as the templates for it see it.
struct GpuGemmShape {
  Conv2dShape s;
  explicit GpuGemmShape(const Workload& workload) : s(Conv2dShape::Of(workload)) {}
  int64_t pixels() const { return s.oh * s.ow; }
  int64_t depth() const { return s.cg * s.kh * s.kw; }
  // Rounds of the reduction of each of `parts`, whole steps of `step`.
  int64_t part(int64_t parts, int64_t step) const;
};

// Filters of weight.packed where those that are computed are not rounded up: whole vectors of so many.
inline constexpr int64_t kGemmVector = 4;

// How the stages of a reduction in `parts` are called.
struct GpuGemmStages {
  explicit GpuGemmStages(int64_t parts) : split(parts > 1), stored(split ? "sums" : "out") {
    acc = split ? "sums.acc" : "sums";
  }
  bool split;
  std::string stored;  // the stage that is tiled: the output, or the parts
  std::string acc;     // a thread's sums of it
};

// The first steps, where there are several parts: they are sums of their own, and a kernel of its own adds them up. The
// name of the axis of images of `stored`.
std::string SeparateParts(const GpuGemmStages& gemm, std::vector<Step>* steps);

// `acc` in registers, its reduction split by `k` rounds each a multiple of the next: a step, and what is inside it.
// Both factors of a step are fetched into shared memory by all threads of the block, `stages` steps at once, weights as
// vectors of that many.
void FetchFactors(const GpuGemmStages& gemm, const std::vector<int64_t>& k, const int64_t (&threads)[3], int64_t vector,
                  int64_t stages, std::vector<Step>* steps);

}  // namespace hone::op
