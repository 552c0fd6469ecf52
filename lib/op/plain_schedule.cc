#include <algorithm>

#include "op/plain_te.h"
#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {

std::vector<Step> VectorsAlongLast(const std::string& stage, const std::vector<std::string>& axes, int lanes) {
  const std::string& last = axes.back();
  std::vector<Step> steps = {Split(stage, last, {lanes}, {"v.o", "v.i"}), Vectorize(stage, "v.i")};
  std::vector<std::string> outer(axes.begin(), axes.end() - 1);
  outer.push_back("v.o");
  if (outer.size() > 1) steps.push_back(Fuse(stage, outer, "task"));
  steps.push_back(Parallel(stage, outer.size() > 1 ? "task" : "v.o"));
  return steps;
}

std::vector<Step> SpreadOut(int64_t tasks, const std::string& axis, int64_t extent, int threads) {
  std::vector<Step> steps = {Vectorize("out", "ci")};
  int64_t pieces = std::min(CeilDiv(int64_t{4} * threads, tasks), extent);
  std::vector<std::string> outer = {"n", "co"};
  if (pieces > 1) {
    steps.push_back(Split("out", axis, {CeilDiv(extent, pieces)}, {axis + ".o", axis + ".i"}));
    outer.push_back(axis + ".o");
  }
  Append(&steps, {Fuse("out", outer, "task"), Parallel("out", "task")});
  return steps;
}

std::vector<std::string> AxisNames(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back("a" + std::to_string(i));
  return names;
}

AxisGroups GroupAxes(const std::vector<int64_t>& shape, const std::vector<std::vector<bool>>& patterns) {
  AxisGroups groups;
  groups.patterns.resize(patterns.size());
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    bool joins = !groups.extents.empty();
    for (size_t i = 0; joins && i < patterns.size(); ++i) joins = groups.patterns[i].back() == patterns[i][axis];
    if (joins) {
      groups.extents.back() *= shape[axis];
      continue;
    }
    groups.extents.push_back(shape[axis]);
    for (size_t i = 0; i < patterns.size(); ++i) groups.patterns[i].push_back(patterns[i][axis]);
  }
  if (groups.extents.empty()) {
    groups.extents.push_back(1);
    for (std::vector<bool>& pattern : groups.patterns) pattern.push_back(true);
  }
  return groups;
}

}  // namespace hone::op
