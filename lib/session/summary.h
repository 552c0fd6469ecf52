// What is said when tuning found nothing that works.
#pragma once

#include <string>
#include <vector>

#include "task/outcome.h"

namespace hone::session {

// Several lines: how many failed in which way, the first message of each kind, and the command that tries one of them
// alone: `command` with its index appended.
std::string FailureSummary(const std::vector<Outcome>& outcomes, const std::string& command);

// "61 ok, 2 pruned, 1 wrong": only what there is.
std::string CountText(const std::vector<Outcome>& outcomes);

}  // namespace hone::session
