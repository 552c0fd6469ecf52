// Messages for a job whose tuning found no correct candidate.
#pragma once

#include <string>
#include <vector>

#include "task/outcome.h"

namespace hone::session {

// Several lines: how many trials failed in which way, the first message of each kind, and the command that tries one of
// them alone, which is `command` with the trial's index appended.
std::string FailureSummary(const std::vector<Outcome>& outcomes, const std::string& command);

// "61 ok, 2 pruned, 1 wrong"; verdicts that no trial has are left out.
std::string CountText(const std::vector<Outcome>& outcomes);

}  // namespace hone::session
