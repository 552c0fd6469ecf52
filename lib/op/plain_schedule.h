// The schedule of plain outputs that need no tuning, and the fusing of axes that makes it efficient.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "task/step.h"
#include "te/tensor.h"

namespace hone::op {

// Vectors of `lanes` along the last of `axes`, and a parallel loop over all before it. With a single axis, the parallel
// loop is over the vectors.
std::vector<Step> VectorsAlongLast(const std::string& stage, const std::vector<std::string>& axes, int lanes);

// Steps for a stage "out" with axes n, co, `axis`.., ci: vectors along ci, and a parallel loop over n and co, and over
// pieces of `axis` (of `extent`) if `tasks` = n * co alone would not keep `threads` evenly busy.
std::vector<Step> SpreadOut(int64_t tasks, const std::string& axis, int64_t extent, int threads);

// "a0", "a1", ..
std::vector<std::string> AxisNames(size_t count);

// Groups of neighbouring axes of an output that can be fused: in each pattern, either all or no axes of a group are
// set. Axes of extent 1 fit into any group. `patterns` has one list per input, with a flag per axis.
struct AxisGroups {
  std::vector<int64_t> extents;             // of each group; at least one group
  std::vector<std::vector<bool>> patterns;  // one list per input, with a flag per group
};
AxisGroups GroupAxes(const std::vector<int64_t>& shape, const std::vector<std::vector<bool>>& patterns);

}  // namespace hone::op
