#include "command/pick_best.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "pipeline/best_file.h"
#include "pipeline/task_list.h"
#include "record/store.h"
#include "task/workload.h"

namespace hone::command {
namespace {

using pipeline::BestEntry;
using pipeline::BestSource;
using pipeline::TaskEntry;

std::string AnchorOf(const std::string& workload) {
  Result<Workload> w = Workload::Parse(workload);
  return w.ok() ? w->AnchorText() : workload;
}

class Picker {
 public:
  explicit Picker(const PickBestOptions& options) : options_(options) {}

  Status Run() {
    HONE_ASSIGN_OR_RETURN(const pipeline::TaskList list, pipeline::ReadTaskList(options_.tasks));
    pipeline::BestFile best{list.network, list.target, {}};
    for (const TaskEntry& task : list.tasks) {
      HONE_ASSIGN_OR_RETURN(BestEntry entry, Pick(task, list.target));
      best.tasks.push_back(std::move(entry));
    }
    HONE_RETURN_IF_ERROR(MakeDirs(DirName(options_.out)));
    return WriteFileIfChanged(options_.out, pipeline::BestFileText(best)).status();
  }

 private:
  std::string DbPath(const std::string& id) const { return JoinPath(options_.records, id + ".db"); }

  Result<BestEntry> Pick(const TaskEntry& task, const std::string& target) {
    BestEntry entry{task.id, task.workload};
    if (Exists(DbPath(task.id))) {
      HONE_ASSIGN_OR_RETURN(std::unique_ptr<record::Store> store, record::Store::OpenForReading(DbPath(task.id)));
      if (store->meta().workload != task.workload || store->meta().target != target) {
        return Status::Invalid(
            fmt::format("{}: its records are of `{}` on `{}`, not of `{}` on `{}`; move the file away and tune again",
                        DbPath(task.id), store->meta().workload, store->meta().target, task.workload, target));
      }
      HONE_ASSIGN_OR_RETURN(bool found, Take(*store, BestSource::kTuned, &entry));
      if (!found) {
        return Status::NotFound(
            fmt::format("{}: none of its trials was correct and timed; `hone-records list {}` shows what failed",
                        DbPath(task.id), DbPath(task.id)));
      }
      return entry;
    }
    if (!options_.allow_missing) {
      return Status::NotFound(
          fmt::format("{}: no records of task {}, though its stamp may be there; run `ninja clean-stamps` in the work "
                      "folder, then Ninja again: "
                      "only what is missing is measured",
                      DbPath(task.id), task.id));
    }
    HONE_ASSIGN_OR_RETURN(bool found, TakeSameAnchor(task, target, &entry));
    if (!found) LogWarning(fmt::format("{} ({}): no records; the default schedule is taken", task.id, task.workload));
    return entry;
  }

  // The best of a store's newest fingerprint. False if it has none.
  Result<bool> Take(const record::Store& store, BestSource source, BestEntry* entry) {
    HONE_ASSIGN_OR_RETURN(std::optional<record::Trial> trial, store.Best(""));
    if (!trial) return false;
    HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> sessions, store.Sessions());
    entry->source = source;
    entry->config = trial->outcome.config;
    entry->median = trial->outcome.median;
    entry->from = store.meta().task_id;
    entry->trial = trial->ordinal;
    entry->steps_digest = Digest128(trial->outcome.steps).Hex();
    for (const record::Session& s : sessions) {
      if (s.id != trial->session) continue;
      entry->fingerprint = s.fingerprint;
      entry->host = s.host;
      entry->recorded = FormatIso8601(s.started);
    }
    return true;
  }

  Result<bool> TakeSameAnchor(const TaskEntry& task, const std::string& target, BestEntry* entry) {
    Result<std::vector<std::string>> names = ListDir(options_.records);
    if (!names.ok()) return false;
    const std::string anchor = AnchorOf(task.workload);
    for (const std::string& name : *names) {
      if (!EndsWith(name, ".db")) continue;
      Result<std::unique_ptr<record::Store>> store = record::Store::OpenForReading(JoinPath(options_.records, name));
      if (!store.ok() || (*store)->meta().target != target || AnchorOf((*store)->meta().workload) != anchor) continue;
      HONE_ASSIGN_OR_RETURN(bool found, Take(**store, BestSource::kAnchor, entry));
      if (!found) continue;
      LogWarning(fmt::format("{} ({}): no records of its own; those of `{}` are taken", task.id, task.workload,
                             (*store)->meta().workload));
      return true;
    }
    return false;
  }

  const PickBestOptions& options_;
};

}  // namespace

int RunPickBest(const PickBestOptions& options) { return ExitCodeOf(Picker(options).Run()); }

}  // namespace hone::command
