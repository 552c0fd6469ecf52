// Where replay spaces come from: replay files, and the records of a task of which every point was tried.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "record/replay_space.h"

namespace hone::session {

// A replay file (record/replay_space.h), or a records database, told apart by their first bytes. Of a database the
// trials of the last session's machine are taken, and its space is made by the operator as it is now: kInvalid if the
// records are of another version of it (make a replay file while the version is the same). `missing`, if it is not
// null, becomes a line that says so if not all legal points of that space were tried, else empty.
Result<record::ReplaySpace> LoadReplay(const std::string& path, std::string* missing = nullptr);

// The templates of a workload with knobs, versions and defaults, as a replay file has them.
Result<std::vector<record::ReplayTemplate>> ReplayTemplates(const std::string& workload, const std::string& target);

// hone-replay: prints a table of one tuner on one space. Returns the exit code; errors go to stderr.
struct ReplayJobOptions {
  std::string path, tuner = "auto", like;
  std::vector<std::string> donor_paths;  // records of other tasks, as of a job (LoadDonors)
  int64_t seeds = 32, trials = 128;
};
int RunReplayJob(const ReplayJobOptions& options);

}  // namespace hone::session
