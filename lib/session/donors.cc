#include "session/donors.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/text.h"
#include "op/space_version.h"
#include "record/store.h"
#include "session/search_times.h"

namespace hone::session {
namespace {

// The templates of this task: those that a donor's records hold in the same version, whose knobs mean the same there,
// and all others.
struct Versions {
  std::set<std::string> same, other;
};

// Both are lists of name=version (op/space_version.h).
Versions Compare(const std::string& ours, const std::string& theirs) {
  const std::vector<std::string> recorded = Split(theirs, ',');
  Versions versions;
  for (const std::string& one : Split(ours, ',')) {
    const bool same = std::find(recorded.begin(), recorded.end(), one) != recorded.end();
    (same ? versions.same : versions.other).insert(one.substr(0, one.find('=')));
  }
  return versions;
}

}  // namespace

Result<DonorRecords> LoadDonors(const std::vector<std::string>& paths, const Workload& workload, const Target& target,
                                const std::string& fingerprint) {
  DonorRecords result;
  if (paths.empty()) return result;
  HONE_ASSIGN_OR_RETURN(const std::string space_version, op::TaskSpaceVersion(workload, target));
  for (const std::string& path : paths) {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<record::Store> store, record::Store::OpenForReading(path));
    const record::Meta& meta = store->meta();
    if (meta.target != target.Text()) {
      return Status::Invalid(
          fmt::format("--donor {}: its records are of the device `{}`, this task is for `{}`; leave "
                      "it out",
                      path, meta.target, target.Text()));
    }
    HONE_ASSIGN_OR_RETURN(const Workload theirs, Workload::Parse(meta.workload));
    if (theirs.OperatorText() != workload.OperatorText()) {
      return Status::Invalid(fmt::format("--donor {}: it is a {}, which a {} cannot learn from; leave it out", path,
                                         theirs.OperatorText(), workload.OperatorText()));
    }
    if (theirs == workload) {
      return Status::Invalid(fmt::format("--donor {}: these are the records of this task itself; leave it out", path));
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> sessions, store->Sessions());
    HONE_ASSIGN_OR_RETURN(const std::vector<record::Trial> trials, store->Trials());
    std::set<int64_t> ours;
    for (const record::Session& session : sessions) {
      if (session.fingerprint == fingerprint) ours.insert(session.id);
    }
    std::vector<Outcome> outcomes;
    SearchTimes times(fingerprint);
    for (const record::Trial& trial : trials) {
      if (!ours.count(trial.session)) continue;
      const double searched = times.Take(trial.outcome, trial.rounds);
      outcomes.push_back(trial.outcome);
      if (trial.outcome.state == TrialState::kOk) outcomes.back().median = searched;
    }
    if (const size_t foreign = trials.size() - outcomes.size(); foreign > 0) {
      result.refused.push_back(fmt::format("{}: {} of its {} trials are of another machine or version and no donors",
                                           path, foreign, trials.size()));
    }
    const Versions versions = Compare(space_version, meta.space_version);
    const auto of_another = [&](const Outcome& o) { return versions.other.count(o.config.template_name) != 0; };
    if (const auto count = std::count_if(outcomes.begin(), outcomes.end(), of_another); count > 0) {
      result.refused.push_back(
          fmt::format("{}: {} of its {} trials are of the space {}, this program has {}: they cannot be donors", path,
                      count, trials.size(), meta.space_version, space_version));
    }
    std::optional<search::Donor> donor = MakeDonor(theirs, outcomes, versions.same);
    if (!donor) continue;
    result.donors.push_back(std::move(*donor));
    result.ids.push_back(meta.task_id);
  }
  return result;
}

std::optional<search::Donor> MakeDonor(const Workload& workload, const std::vector<Outcome>& trials,
                                       const std::set<std::string>& templates) {
  search::Donor donor{workload, {}};
  for (const Outcome& trial : trials) {
    if (!templates.count(trial.config.template_name)) continue;
    donor.outcomes.push_back(trial);
    donor.outcomes.back().samples.clear();
  }
  if (donor.outcomes.empty()) return std::nullopt;
  return donor;
}

}  // namespace hone::session
