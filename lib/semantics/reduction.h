// The axes of reductions and matrix products.
#pragma once

#include "base/result.h"
#include "semantics/attributes.h"

namespace hone::semantics {

// For reduce_*: one flag per axis of the input; all true without `axes`.
std::vector<bool> ReducedAxes(const Workload& workload);

// numpy's matmul: a[.., m, k] * b[.., k, n]; a vector is a row on the left and a column on the right.
struct Matmul {
  int64_t m = 1, k = 1, n = 1;
  Shape a_batch, b_batch, batch;  // with equal ranks; an extent of 1 is repeated
  Shape shape;                    // of the output
};
Result<Matmul> MatmulOf(const Workload& workload);

}  // namespace hone::semantics
