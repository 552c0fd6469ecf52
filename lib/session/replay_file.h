// Loads replay spaces from replay files, or from the records of a task whose points were all tried.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "record/replay_space.h"

namespace hone::session {

// Loads a replay file (record/replay_space.h) or a records database, distinguished by their first bytes. A database's
// trials of the last session's machine are used, with the operator's current space: returns kInvalid if the records are
// from another version of it (make a replay file while the version is the same). If `missing` is not null, it is set to
// a line if not all legal points of that space were tried, else to "".
Result<record::ReplaySpace> LoadReplay(const std::string& path, std::string* missing = nullptr);

// The templates of a workload with knobs, versions and defaults, as in a replay file.
Result<std::vector<record::ReplayTemplate>> ReplayTemplates(const std::string& workload, const std::string& target);

// hone-replay: prints a table for one tuner on one space. Returns the exit code; prints errors to stderr.
struct ReplayJobOptions {
  std::string path, tuner = "auto", like;
  std::vector<std::string> donor_paths;  // records of other tasks, as for a job (LoadDonors)
  int64_t seeds = 32, trials = 128;
};
int RunReplayJob(const ReplayJobOptions& options);

}  // namespace hone::session
