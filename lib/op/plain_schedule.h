// The schedule of plain outputs that need no tuning, and the fusing of axes that makes it good.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/expr.h"
#include "task/step.h"
#include "te/tensor.h"

namespace hone::op {

// Vectors of `lanes` along the last of `axes`, a parallel loop over all before it. With one axis: over the vectors.
std::vector<Step> VectorsAlongLast(const std::string& stage, const std::vector<std::string>& axes, int lanes);

// Steps for a stage "out" with axes n, co, `axis`.., ci: vectors along ci, and a parallel loop over n and co, and
// pieces of `axis` (of `extent`) where `tasks` = n * co alone would not keep `threads` evenly busy.
std::vector<Step> SpreadOut(int64_t tasks, const std::string& axis, int64_t extent, int threads);

// "a0", "a1", ..
std::vector<std::string> AxisNames(size_t count);

// Neighbouring axes of an output that can be one: in each pattern both are set or neither. Axes of extent 1 join any.
// `patterns`: for each input, one flag an axis.
struct AxisGroups {
  std::vector<int64_t> extents;             // of each group; at least one group
  std::vector<std::vector<bool>> patterns;  // of each input, one flag a group
};
AxisGroups GroupAxes(const std::vector<int64_t>& shape, const std::vector<std::vector<bool>>& patterns);

}  // namespace hone::op
