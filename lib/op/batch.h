// Which operators have a batch.
#pragma once

#include "task/workload.h"

namespace hone::op {

// Is the first axis of the data one of images that are computed each by itself (the N of doc/operators.md)? No for
// operators that take their axes as they come (elementwise ones, products of matrices, reductions, movements), and for
// a user's own. A chain has one if its first member has.
bool HasBatch(const Workload& workload);

}  // namespace hone::op
