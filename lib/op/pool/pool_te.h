// A pool of two or three axes as te stages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "task/workload.h"
#include "te/tensor.h"

namespace hone::op {

// "<prefix>acc" (a reduction over kd, kh, kw; positions outside the input left out by a condition) and `name`, with the
// axes n co od oh ow ci; no kd and od with two axes. Where an average's windows do not all divide by the same number,
// "<prefix>columns" [ow] has the columns' share of it; to be computed once a task.
struct PoolStages {
  te::Tensor acc, columns, out;
};
// `source`: blocked [n, co, d, h, w, ci].
PoolStages MakePoolStages(const Workload& workload, const te::Tensor& source, const std::string& prefix,
                          const std::string& name);

}  // namespace hone::op
