// A tuner's knowledge of a task in addition to its space, and records of other tasks to learn from.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "propose/propose.h"
#include "search/space/space.h"
#include "search/tuner/context.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone::session {

// The workload, the target, the estimate, the loops of a point and, for CUDA, larger groups.
search::TunerContext ContextOf(const Workload& workload, const Target& target);

// As above, plus each proposer's default that is legal in `space` (their propose::MakeTaskSpace). Both must outlive the
// context.
search::TunerContext MakeTunerContext(const Workload& workload, const Target& target,
                                      const propose::Proposers& proposers, const search::TaskSpace& space);

struct DonorRecords {
  std::vector<search::Donor> donors;  // in the order of the paths; only those with a usable trial
  std::vector<std::string> ids;       // the donors' task ids, in the same order
  std::vector<std::string> refused;   // one line per file whose trials are not used, with the reason
};

// Reads the databases at `paths`. Takes trials of the machine and versions in `fingerprint` that belong to a proposer
// of `workload` in its current version (propose/versions.h). They carry the search's times (session/history.h).
// Trials of another machine or of another template version are refused with a line, because an update of Hone causes
// them. Returns kInvalid for a file of another target, of another operator or of this task: the caller named it by
// mistake.
Result<DonorRecords> LoadDonors(const std::vector<std::string>& paths, const Workload& workload, const Target& target,
                                const std::string& fingerprint);

// The trials of another task that belong to one of `templates`, in their order. Returns nullopt if no trial does.
std::optional<search::Donor> MakeDonor(const Workload& workload, const std::vector<Outcome>& trials,
                                       const std::set<std::string>& templates);

}  // namespace hone::session
