// Records of other tasks for a tuner to learn from.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/tuner/context.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone::session {

struct DonorRecords {
  std::vector<search::Donor> donors;  // in the order of the paths; those with a trial of use
  std::vector<std::string> ids;       // of their tasks, likewise
  std::vector<std::string> refused;   // a line each: which file's trials are not used, and why
};

// Reads the databases at `paths`. Of use are trials of the machine and versions that `fingerprint` names, of one of the
// templates of `workload` in its version of today (op/space_version.h); they come with the times that they had while
// searching (session/search_times.h). Trials of another machine, and of another version of a template, are refused with
// a line, since the user cannot help an update; kInvalid for a file of another target, of another operator or of this
// very task: those were named by mistake.
Result<DonorRecords> LoadDonors(const std::vector<std::string>& paths, const Workload& workload, const Target& target,
                                const std::string& fingerprint);

// What a task whose templates are `templates` may learn from another one's trials, in their order: those of its
// templates. Nothing if there are none.
std::optional<search::Donor> MakeDonor(const Workload& workload, const std::vector<Outcome>& trials,
                                       const std::set<std::string>& templates);

}  // namespace hone::session
