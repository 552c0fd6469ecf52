// The operators a graph may hold, and the shapes they make. A wider set than that of op/: batch norm, dropout and
// identity never reach it (graph/normalise.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "task/workload.h"

namespace hone::graph {

// All operator names, sorted.
std::vector<std::string> KnownOperators();

// The output of a workload whose inputs' shapes are given; a chain's is its last member's, and each member's first input
// must be what the one before it makes. Members are conv2d, max_pool2d and avg_pool2d. kUnsupported for an operator that is not known, kInvalid for
// shapes or attributes that do not fit each other (a convolution without an output, say).
Result<TensorType> InferOutput(const Workload& workload);

// Of a batch norm: `epsilon`, or 1 / `inverse_epsilon`; 1e-5 without either.
double BatchNormEpsilon(const Workload& workload);

// The windows of a conv2d: attributes with their defaults. pad is top, left, bottom, right.
struct Window {
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  int64_t top = 0, left = 0, bottom = 0, right = 0;
  int64_t out_h = 0, out_w = 0;
};
// REQUIRES: its inputs have 4 dimensions. kInvalid as above.
Result<Window> WindowOf(const Workload& workload);

}  // namespace hone::graph
