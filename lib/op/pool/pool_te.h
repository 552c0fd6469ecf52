// A pool of two or three axes as te stages.
#pragma once

#include <string>

#include "task/workload.h"
#include "te/tensor.h"

namespace hone::op {

// "<prefix>acc" (a reduction over kd, kh, kw, with a condition that excludes positions outside the input) and `name`,
// with the axes of `source`, n co od oh ow ci; without kd and od for two axes. If an average's windows do not all
// divide by the same number, "<prefix>columns" [ow] has the columns' share of the divisor, to be computed once per
// task.
struct PoolStages {
  te::Tensor acc, columns, out;
};
// `source`: blocked [n, co, d, h, w, ci], plain [n, co, d, h, w], or channels last [n, d, h, w, ci] or [n, d, h, w, co,
// ci], as the workload says.
PoolStages MakePoolStages(const Workload& workload, const te::Tensor& source, const std::string& prefix,
                          const std::string& name);

}  // namespace hone::op
