#include "session/tuner_context.h"

#include <memory>

#include "compile/backend.h"
#include "propose/propose.h"
#include "propose/versions.h"
#include "record/store.h"
#include "session/history.h"

namespace hone::session {

search::TunerContext ContextOf(const Workload& workload, const Target& target) {
  search::TunerContext context{.workload = workload, .target = target};
  if (const auto backend = compile::FindBackend(target); backend.ok()) context.group = (*backend)->group();
  context.loops = [target](const Workload& w, const Config& config) { return compile::LowerLoops(w, target, config); };
  context.estimate = [target](const Workload& w) { return propose::EstimatesOf(w, target); };
  return context;
}

search::TunerContext MakeTunerContext(const Workload& workload, const Target& target,
                                      const propose::Proposers& proposers, const search::TaskSpace& space) {
  search::TunerContext context = ContextOf(workload, target);
  // Points of the task itself are many: their spaces are there already.
  context.loops = [&, workload, target](const Workload& w, const Config& config) -> Result<ir::Function> {
    if (w != workload) return compile::LowerLoops(w, target, config);
    HONE_ASSIGN_OR_RETURN(const Candidate candidate, propose::Instantiate(proposers, space, config));
    return compile::LowerLoops(w, target, candidate);
  };
  for (size_t i = 0; i < proposers.size(); ++i) {
    const search::Space& part = space.spaces()[i];
    const auto point = proposers[i].Default(part);
    if (point.ok() && !part.Reject(*point)) context.defaults.push_back(space.offset(i) + point->index);
  }
  return context;
}

Result<DonorRecords> LoadDonors(const std::vector<std::string>& paths, const Workload& workload, const Target& target,
                                const std::string& fingerprint) {
  DonorRecords result;
  if (paths.empty()) return result;
  HONE_ASSIGN_OR_RETURN(const TemplateVersions current, propose::VersionsOf(workload, target));
  std::set<std::string> templates;
  for (const auto& [name, version] : current) templates.insert(name);
  for (const std::string& path : paths) {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<record::Store> store, record::Store::OpenForReading(path));
    const record::Meta& meta = store->meta();
    if (meta.target != target.Text()) {
      return Status::Invalid("--donor {}: its records are of the device `{}`, this task is for `{}`; leave it out",
                             path, meta.target, target.Text());
    }
    HONE_ASSIGN_OR_RETURN(const Workload theirs, Workload::Parse(meta.workload));
    if (theirs.OperatorText() != workload.OperatorText()) {
      return Status::Invalid("--donor {}: it is a {}, which a {} cannot learn from; leave it out", path,
                             theirs.OperatorText(), workload.OperatorText());
    }
    if (theirs == workload) {
      return Status::Invalid("--donor {}: these are the records of this task itself; leave it out", path);
    }
    HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> sessions, store->Sessions());
    HONE_ASSIGN_OR_RETURN(const std::vector<record::Trial> trials, store->AllTrials());
    std::set<int64_t> ours;
    for (const record::Session& session : sessions) {
      if (SameMachine(session.fingerprint, fingerprint)) ours.insert(session.id);
    }
    std::vector<Outcome> outcomes;
    size_t foreign = 0, other_version = 0;
    SearchTimes times(fingerprint);
    for (const record::Trial& trial : trials) {
      if (!ours.count(trial.session)) {
        ++foreign;
        continue;
      }
      const double searched = times.Take(trial.outcome, trial.rounds);
      const auto version = current.find(trial.outcome.config.template_name);
      if (version != current.end() && version->second != trial.template_version) {
        ++other_version;
        continue;
      }
      outcomes.push_back(trial.outcome);
      if (trial.outcome.state == TrialState::kOk) outcomes.back().median = searched;
    }
    const auto refuse = [&](size_t count, const char* why) {
      if (count == 0) return;
      result.refused.push_back(
          fmt::format("{}: {} of its {} trials are of {} and no donors", path, count, trials.size(), why));
    };
    refuse(foreign, "another machine or version");
    refuse(other_version, "other versions of their templates");
    std::optional<search::Donor> donor = MakeDonor(theirs, outcomes, templates);
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
