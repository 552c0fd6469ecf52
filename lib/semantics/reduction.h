// What a reduction and a matrix product are over.
#pragma once

#include "base/result.h"
#include "semantics/attributes.h"

namespace hone::semantics {

// Of reduce_*: one flag an axis of the input; all without `axes`.
std::vector<bool> ReducedAxes(const Workload& workload);

// numpy's matmul: a[.., m, k] * b[.., k, n]; a vector is a row on the left and a column on the right.
struct Matmul {
  int64_t m = 1, k = 1, n = 1;
  Shape a_batch, b_batch, batch;  // of equal rank; an extent of 1 is repeated
  Shape shape;                    // of the output
};
Result<Matmul> MatmulOf(const Workload& workload);

}  // namespace hone::semantics
