// Reductions of plain tensors as te stages with their schedule: vectors along the last axis, whether it is kept or
// reduced, and a parallel loop over the kept axes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "task/step.h"
#include "te/tensor.h"

namespace hone::op {

struct ReduceAxes {
  std::vector<int64_t> extents;  // of the axes of the value
  std::vector<bool> reduced;     // one flag per axis
  std::vector<int64_t> Kept() const;
};

// The result has the kept extents, or a single extent of 1. `value` takes an index of all axes. Appends to `steps`.
te::Tensor ReduceStages(const std::string& name, ir::Reducer reducer, const ReduceAxes& axes, int lanes,
                        const std::function<ir::Expr(const std::vector<ir::Expr>&)>& value, std::vector<Step>* steps);

// The result's index for an index of all axes.
std::vector<ir::Expr> KeptIndex(const ReduceAxes& axes, const std::vector<ir::Expr>& all);

}  // namespace hone::op
