// WORK/plan.log: which of the small files that hone-plan writes (settings/, targets/, abi/) it has changed, from what
// to what: a JSON object a line, {"time": 1795255200.5, "file": "abi/hone-build.txt", "before": "..", "after":
// ".."}, with the time in unix seconds. Only hone-plan --why reads it: to Ninja such a file is newer, and what stood in
// it before is gone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hone::command {

inline constexpr char kPlanLog[] = "plan.log";

struct PlanChange {
  double time = 0;  // unix seconds
  std::string file, before, after;
};

std::string PlanChangeText(const PlanChange& change);  // a line with its newline
Result<PlanChange> ParsePlanChange(std::string_view line);

// PlanChangesSince of the given lines of `log`. Malformed lines are skipped.
std::vector<std::string> PlanChangesIn(std::string_view log, const std::string& file, double since);

// Notes that `file` (relative to `work`) is about to be replaced. Lines beyond the newest few hundred go.
Status NotePlanChange(const std::string& work, const std::string& file, std::string_view before,
                      std::string_view after);

// Describes the changes of `file` since `since` (unix seconds) in words (pipeline/changes.h); empty if the log says
// nothing.
std::vector<std::string> PlanChangesSince(const std::string& work, const std::string& file, double since);

}  // namespace hone::command
