#include "session/donors.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "op/operator.h"
#include "record/store.h"

namespace hone::session {

Result<DonorRecords> LoadDonors(const std::vector<std::string>& paths, const Workload& workload, const Target& target,
                                const std::string& fingerprint) {
  DonorRecords result;
  if (paths.empty()) return result;
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  std::set<std::string> templates;
  for (const op::Template* t : op->Templates(workload, target)) templates.insert(t->name());
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
    search::Donor donor{theirs, {}};
    size_t foreign = 0;
    for (const record::Trial& trial : trials) {
      if (!ours.count(trial.session)) {
        ++foreign;
      } else if (templates.count(trial.outcome.config.template_name)) {
        donor.outcomes.push_back(trial.outcome);
        donor.outcomes.back().samples.clear();
      }
    }
    if (foreign > 0) {
      result.refused.push_back(fmt::format("{}: {} of its {} trials are of another machine or version and no donors",
                                           path, foreign, trials.size()));
    }
    if (donor.outcomes.empty()) continue;
    result.donors.push_back(std::move(donor));
    result.ids.push_back(meta.task_id);
  }
  return result;
}

}  // namespace hone::session
