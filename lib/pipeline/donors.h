// The tasks that a task may learn from: those of the same operator on the same target, nearest in shape first.
#pragma once

#include <string>
#include <vector>

#include "pipeline/settings_toml.h"
#include "task/workload.h"

namespace hone::pipeline {

// The distance of two workloads: sum of the absolute base-2 logarithms of the ratios of their extents and numbers of
// groups, plus 1 for each other attribute that differs, and less for a different epilogue. Infinite for different
// operators or ranks. 0 only for equal ones.
double ShapeDistance(const Workload& a, const Workload& b);

struct DonorTask {
  std::string id;
  std::string workload;
  Transfer transfer;  // from its settings
};

// For each task, the positions of its donors, nearest first (the first of equals), at most kMaxDonors. No task is an
// indirect donor of itself: all tasks are ordered, those that a list names first, then by id, and take donors only from
// those before them. `tasks` are of one target, sorted by id.
inline constexpr size_t kMaxDonors = 4;
std::vector<std::vector<size_t>> ChooseDonors(const std::vector<DonorTask>& tasks);

}  // namespace hone::pipeline
