// Reductions of plain tensors as te stages with their schedule: vectors along the last axis, whether that is kept or
// reduced, and a parallel loop over what is kept.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "task/step.h"
#include "te/tensor.h"

namespace hone::op {

struct ReduceAxes {
  std::vector<int64_t> extents;  // of the axes that the value is over
  std::vector<bool> reduced;     // one flag an axis
  std::vector<int64_t> Kept() const;
};

// The result has the kept extents (one of 1 where none are). `value`: at an index of all axes. Appends to `steps`.
te::Tensor ReduceStages(const std::string& name, ir::Reducer reducer, const ReduceAxes& axes, int lanes,
                        const std::function<ir::Expr(const std::vector<ir::Expr>&)>& value, std::vector<Step>* steps);

// The index of the result that belongs to an index of all axes.
std::vector<ir::Expr> KeptIndex(const ReduceAxes& axes, const std::vector<ir::Expr>& all);

}  // namespace hone::op
