#include "command/pick_best.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "command/finalists.h"
#include "command/numerics.h"
#include "op/numerics.h"
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
    HONE_ASSIGN_OR_RETURN(numerics_, ParseWinogradCap(options_.winograd));
    HONE_ASSIGN_OR_RETURN(const pipeline::TaskList list, pipeline::ReadTaskList(options_.tasks));
    pipeline::BestFile best{list.network, list.target, {}};
    for (const TaskEntry& task : list.tasks) {
      HONE_ASSIGN_OR_RETURN(BestEntry entry, Pick(task, list.target));
      best.tasks.push_back(std::move(entry));
    }
    HONE_RETURN_IF_ERROR(MakeDirs(DirName(options_.out)));
    if (!options_.choice.empty()) {
      HONE_RETURN_IF_ERROR(MakeDirs(DirName(options_.choice)));
      HONE_RETURN_IF_ERROR(WriteFileIfChanged(options_.choice, pipeline::ChoiceText(best)).status());
    }
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
        return Status::NotFound(fmt::format(
            "{}: none of its trials was correct and timed{}; `hone-records list {}` shows what failed", DbPath(task.id),
            options_.winograd == "6" ? "" : " with --winograd " + options_.winograd, DbPath(task.id)));
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

  // The best of a store's newest fingerprint, within the numerics. False if it has none.
  Result<bool> Take(const record::Store& store, BestSource source, BestEntry* entry) {
    const Result<Workload> workload = op::ParseChecked(store.meta().workload);
    const Result<Target> target = Target::Parse(store.meta().target);
    const auto allows = [&](const Config& config) {
      return !workload.ok() || !target.ok() || !op::Forbidden(*workload, *target, numerics_, config);
    };
    HONE_ASSIGN_OR_RETURN(FoundFinalists found, FindFinalists(store, std::max(1, options_.finalists), allows));
    if (found.finalists.empty()) return false;
    entry->source = source;
    entry->from = store.meta().task_id;
    entry->fingerprint = found.fingerprint;
    entry->Choose(found.finalists[0]);
    if (options_.finalists > 0) entry->finalists = std::move(found.finalists);
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
  op::Numerics numerics_;
};

}  // namespace

int RunPickBest(const PickBestOptions& options) { return ExitCodeOf(Picker(options).Run()); }

}  // namespace hone::command
