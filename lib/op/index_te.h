// Index expressions of operators that move elements.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/expr.h"
#include "semantics/indices.h"

namespace hone::op {

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
