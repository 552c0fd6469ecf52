// Replays as a Markdown table: share of the best possible speed after 4, 8, .. trials, in percent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "session/replay.h"

namespace hone::session {

// Two lines; `trials`: columns beyond them are left out.
std::string ReplayTableHead(int64_t trials, const std::string& first_column);

// One line for many runs: the median of the shares, the worst of them, trials to reach 95 % (median, and what three of
// four runs need; one more than were made if that many never did), milliseconds in the tuner a trial.
std::string ReplayTableRow(const std::string& label, const std::vector<ReplayRun>& runs, int64_t trials);

// Runs one tuner on one space with seeds 1 .. seeds.
Result<std::vector<ReplayRun>> ReplaySeeds(const record::ReplaySpace& replay, const search::TaskSpace& space,
                                           ReplayOptions options, int64_t seeds);

}  // namespace hone::session
