#include "record/distill.h"

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/file.h"
#include "record/forget.h"
#include "record/merge.h"
#include "record/sqlite.h"

namespace hone::record {
namespace {

// A trial whose artifact was timed before has no samples of its own.
Status AddTimesOf(const Store& store, const std::vector<Trial>& all, std::set<int64_t>* kept) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Session> sessions, store.Sessions());
  std::map<int64_t, std::string> machines;
  for (const Session& session : sessions) machines[session.id] = session.fingerprint;
  std::map<std::pair<std::string, std::string>, int64_t> timed;  // by machine and artifact
  for (const Trial& trial : all) {
    const std::pair artifact(machines[trial.session], trial.outcome.artifact_digest);
    if (!trial.outcome.samples.empty()) {
      timed.try_emplace(artifact, trial.ordinal);
    } else if (const auto found = timed.find(artifact); kept->contains(trial.ordinal) && found != timed.end()) {
      kept->insert(found->second);
    }
  }
  return Status();
}

Result<DistillCount> Distill(const std::string& made, const std::vector<std::string>& files,
                             const ChooseTrials& choose) {
  HONE_RETURN_IF_ERROR(MergeRecords(made, files).status());
  DistillCount count;
  std::vector<int64_t> others;
  {
    HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, Store::OpenForReading(made));
    HONE_ASSIGN_OR_RETURN(const std::vector<Trial> all, store->AllTrials());
    HONE_ASSIGN_OR_RETURN(const std::vector<int64_t> chosen, choose(*store));
    std::set<int64_t> kept(chosen.begin(), chosen.end());
    HONE_RETURN_IF_ERROR(AddTimesOf(*store, all, &kept));
    count = {static_cast<int64_t>(all.size()), static_cast<int64_t>(kept.size())};
    for (const Trial& trial : all) {
      if (!kept.contains(trial.ordinal)) others.push_back(trial.ordinal);
    }
  }
  if (count.kept == 0 || others.empty()) return count;
  HONE_RETURN_IF_ERROR(RemoveTrials(made, others));
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<Database> db, Database::Open(made, OpenMode::kWrite));
  HONE_RETURN_IF_ERROR(db->Execute("VACUUM"));  // removed rows leave empty pages
  return count;
}

}  // namespace

Result<DistillCount> DistillRecords(const std::string& out, const std::vector<std::string>& files,
                                    const ChooseTrials& choose, const std::function<Status()>& still_ours) {
  if (Exists(out)) return Status::Invalid(out + ": is there already; name another folder");
  const std::string made = out + ".distilling";
  HONE_RETURN_IF_ERROR(Remove(made));  // left by a killed process
  const Result<DistillCount> count = Distill(made, files, choose);
  Status done = count.status();
  if (done.ok() && still_ours) done = still_ours();
  const bool empty = done.ok() && count->kept == 0;
  if (done.ok() && !empty) done = Rename(made, out);
  if (!done.ok() || empty) (void)Remove(made);
  if (!done.ok()) return done;
  return count;
}

}  // namespace hone::record
