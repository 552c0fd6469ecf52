// A pool of two or three axes as te stages.
#pragma once

#include <string>

#include "task/workload.h"
#include "te/tensor.h"

namespace hone::op {

// A pool of floats, the maximum of any type, or the average of bytes less a zero point.
// "<prefix>acc" (a reduction over kd, kh, kw, with a condition that excludes positions outside the input) and `name`,
// with the axes of `source`, n co od oh ow ci; without kd and od for two axes. If an average's windows do not all
// divide by the same number, "<prefix>columns" [ow] has the columns' share of the divisor, for bytes their part of it,
// to be computed once per task.
struct PoolStages {
  te::Tensor acc, columns, out;
};
// `source`: blocked [n, co, d, h, w, ci], plain [n, co, d, h, w], or channels last [n, d, h, w, ci] or [n, d, h, w, co,
// ci], as the workload says. `zero`: the zero point [1], if there is one.
PoolStages MakePoolStages(const Workload& workload, const te::Tensor& source, const std::string& prefix,
                          const std::string& name, const te::Tensor& zero = {});

// The average of bytes less their zero point, if there is one, from their sum and number (lib/semantics/windows.cc).
ir::Expr ByteAverage(const ir::Expr& sum, const ir::Expr& count, DType type, const te::Tensor& zero);

}  // namespace hone::op
