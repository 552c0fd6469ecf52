// A two-dimensional pool as te stages.
#pragma once

#include <string>

#include "task/workload.h"
#include "te/tensor.h"

namespace hone::op {

// "<prefix>acc" (a reduction over kh, kw; positions outside the input left out by a condition) and `name`, with the
// axes n co oh ow ci. Where an average's windows do not all divide by the same number, "<prefix>columns" [ow] has the
// columns' share of it; to be computed once a task.
struct PoolStages {
  te::Tensor acc, columns, out;
};
// `source`: blocked [n, co, h, w, ci].
PoolStages MakePoolStages(const Workload& workload, const te::Tensor& source, const std::string& prefix,
                          const std::string& name);

}  // namespace hone::op
