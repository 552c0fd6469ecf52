// The parts of operators with one schedule: functions of values, groups of axes, reductions, index expressions, and the
// schedule of plain outputs.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "semantics/indices.h"
#include "task/step.h"
#include "te/tensor.h"

namespace hone::op {

// Functions of float tensors without an intrinsic in the IR are expressions of intrinsics (f32, error about 1e-6
// relative, or absolute near a zero; NaN and infinities as in C).

ir::Expr Float(double value);
ir::Expr CallMath(ir::Intrinsic fn, ir::Expr x);
// The larger (smaller) number; NaN if x is. `bound` is not NaN, so ir::Max and ir::Min suffice, with the operands in
// the order that passes on a NaN, while te::CombineReduction checks both.
ir::Expr AtLeast(ir::Expr x, double bound);
ir::Expr AtMost(ir::Expr x, double bound);

// The scalar function of semantics/elementwise.h as an expression. `x` are its inputs, `a` its parameters' values.
ir::Expr ScalarExpr(const char* name, const std::vector<ir::Expr>& x, const std::vector<double>& a);

// "a0", "a1", ..
std::vector<std::string> AxisNames(size_t count);

// Groups of neighbouring axes of an output that can be fused: in each pattern, either all or no axes of a group are
// set. Axes of extent 1 fit into any group. `patterns` has one list per input, with a flag per axis.
struct AxisGroups {
  std::vector<int64_t> extents;             // of each group; at least one group
  std::vector<std::vector<bool>> patterns;  // one list per input, with a flag per group
};
AxisGroups GroupAxes(const std::vector<int64_t>& shape, const std::vector<std::vector<bool>>& patterns);

// The axes of a value that is reduced over some of them.
struct ReduceAxes {
  std::vector<int64_t> extents;
  std::vector<bool> reduced;  // one flag per axis
  std::vector<int64_t> Kept() const;
  // The result's index for an index of all axes.
  std::vector<ir::Expr> KeptOf(const std::vector<ir::Expr>& all) const;
};

// A stage without a schedule, with axes a0, a1, ..; `value` takes an index.
te::Tensor ElementWise(const std::string& name, const std::vector<int64_t>& extents,
                       const std::function<ir::Expr(const std::vector<ir::Expr>&)>& value);
// The same, reduced over axes r0, r1, .., which count all axes; `value` takes an index of all axes.
te::Tensor ReduceOver(const std::string& name, ir::Reducer reducer, const ReduceAxes& axes,
                      const std::function<ir::Expr(const std::vector<ir::Expr>&)>& value);

// Groups of axes: neighbouring axes that are taken completely and in order form one group; each other axis is its own.
struct Partial {
  std::vector<int64_t> in, out;  // extents of each group; at least one group
  std::vector<int64_t> axis;     // the axis of a partial group; -1 for a complete one
};
Partial SplitWhole(const std::vector<int64_t>& in, const std::vector<int64_t>& out, const std::vector<bool>& whole);

// indices[p] for 0 <= p < indices.size(), as runs of equal steps; undefined if there are too many. For other p, or
// under a Select that rejects it, the value may be anything: clamp it.
ir::Expr IndexAt(const std::vector<int64_t>& indices, const ir::Expr& p);

// The number of elements of start, start + step, .. (`count` of them) that lie in [low, high).
ir::Expr Covered(ir::Expr start, int64_t count, int64_t step, int64_t low, int64_t high);

// axis.Nearest(p), whose values are in `indices`: by a division if that gives all of them, else by IndexAt, else in
// floating point. Clamp it as well.
ir::Expr NearestIndex(const semantics::ResizeAxis& axis, const std::vector<int64_t>& indices, const ir::Expr& p);

}  // namespace hone::op
