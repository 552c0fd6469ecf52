// Indices of operators that move elements.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/expr.h"
#include "semantics/resize.h"

namespace hone::op {

// Neighbouring axes of which all is taken, in order, are one group; each other axis is a group of its own.
struct Partial {
  std::vector<int64_t> in, out;  // extents of each group; at least one
  std::vector<int64_t> axis;     // the axis of a group that is not whole; -1 for a whole one
};
Partial SplitWhole(const std::vector<int64_t>& in, const std::vector<int64_t>& out, const std::vector<bool>& whole);

// indices[p] for 0 <= p < indices.size(), as runs of equal steps; not defined if they are too many. For other p,
// or under a Select that rejects it, the value may be anything: clamp it.
ir::Expr IndexAt(const std::vector<int64_t>& indices, const ir::Expr& p);

// How many of start, start + step, .. (`count` of them) lie in [low, high).
ir::Expr Covered(ir::Expr start, int64_t count, int64_t step, int64_t low, int64_t high);

// axis.Nearest(p), of which `indices` has the values: by a division where that gives them all, else by IndexAt, else in
// floating point. To be clamped, too.
ir::Expr NearestIndex(const semantics::ResizeAxis& axis, const std::vector<int64_t>& indices, const ir::Expr& p);

}  // namespace hone::op
