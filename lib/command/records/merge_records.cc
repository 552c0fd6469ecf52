#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <set>

#include "base/counted.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/heartbeat.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/threads.h"
#include "command/pick_best/finalists.h"
#include "command/records/records.h"
#include "op/numerics.h"
#include "record/distill.h"
#include "record/merge.h"
#include "record/store.h"

namespace hone::command {

// `[numerics]` of pipelines.
constexpr op::Numerics kNumerics[] = {{6, false}, {4, false}, {2, false}, {0, false},
                                      {6, true},  {4, true},  {2, true},  {0, true}};

using Groups = std::vector<std::pair<std::string, std::vector<std::string>>>;  // task and its files

// By task, in the order of the ids; each task's files in the order of the arguments.
static Result<Groups> GroupByTask(const std::vector<std::string>& files) {
  std::map<std::string, std::vector<std::string>> groups;
  for (const std::string& path : files) {
    HONE_ASSIGN_OR_RETURN(const auto store, record::Store::OpenForReading(path));
    const std::string& id = store->meta().task_id;
    // It becomes the name of a file.
    if (!IsPlainName(id)) return Status::Invalid("{}: `{}` is not a task id", path, Printable(id));
    groups[id].push_back(path);
  }
  return Groups(groups.begin(), groups.end());
}

static Status MergeTask(const std::string& out, const std::string& id, const std::vector<std::string>& files) {
  const std::string path = JoinPath(out, id + ".db");
  HONE_ASSIGN_OR_RETURN(auto lock, FileLock::Acquire(path + ".lock"));
  Heartbeat heartbeat(&lock);
  const auto still_ours = [&] { return heartbeat.Check(); };
  HONE_ASSIGN_OR_RETURN(const record::MergeCount count, record::MergeRecords(path, files, still_ours));
  LogInfo("{}: {}: {} added, {} replaced by ones with more samples, {} known", id, Counted(count.files, "file"),
          Counted(count.added, "trial"), FormatCount(count.replaced), FormatCount(count.known));
  return Status();
}

// The trials that hone-pick-best may write with at most `count` finalists, for each machine and each limit on numerics
// that a pipeline can set.
static Result<std::vector<int64_t>> BestOf(const record::Store& store, int count) {
  const Result<Workload> workload = op::ParseChecked(store.meta().workload);
  const Result<Target> target = Target::Parse(store.meta().target);
  std::set<std::string> machines;
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> sessions, store.Sessions());
  for (const record::Session& session : sessions) machines.insert(session.fingerprint);
  std::set<int64_t> best;
  for (const std::string& machine : machines) {
    for (const op::Numerics& numerics : kNumerics) {
      const auto allows = [&](const Outcome& outcome) {
        return !workload.ok() || !target.ok() || !op::Forbidden(*workload, *target, numerics, outcome);
      };
      const auto candidate = [](const Outcome& outcome) { return hone::Candidate::Parse(outcome.steps); };
      HONE_ASSIGN_OR_RETURN(const FoundFinalists found, FindFinalists(store, count, allows, candidate, machine));
      for (const pipeline::Finalist& finalist : found.finalists) best.insert(finalist.trial);
    }
  }
  return std::vector<int64_t>(best.begin(), best.end());
}

static Result<bool> DistillTask(const RecordsOptions& options, const std::string& id,
                                const std::vector<std::string>& files) {
  const std::string path = JoinPath(options.out, id + ".db");
  HONE_ASSIGN_OR_RETURN(auto lock, FileLock::Acquire(path + ".lock"));
  Heartbeat heartbeat(&lock);
  HONE_ASSIGN_OR_RETURN(const record::DistillCount count,
                        record::DistillRecords(
                            path, files, [&](const record::Store& store) { return BestOf(store, options.best); },
                            [&] { return heartbeat.Check(); }));
  if (count.kept == 0) {
    LogWarning("{}: {}: no trial was correct and timed: left out", id, Counted(count.trials, "trial"));
    return false;
  }
  LogInfo("{}: {} of {} kept", id, FormatCount(count.kept), Counted(count.trials, "trial"));
  return true;
}

// Calls work(task, files) for each task of these files, several tasks at a time. Returns the worst exit code.
static Result<int> ForEachTask(const std::vector<std::string>& paths, const std::string& out,
                               const std::function<int(const std::string&, const std::vector<std::string>&)>& work) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> files, ExpandRecordFiles(paths));
  HONE_ASSIGN_OR_RETURN(const Groups groups, GroupByTask(files));
  HONE_RETURN_IF_ERROR(MakeDirs(out));
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  int code = kDone;
  RunInThreads(static_cast<int64_t>(std::min(groups.size(), UsableCpus().size())), [&] {
    for (size_t i = next++; i < groups.size() && !Interrupted(); i = next++) {
      const int done = work(groups[i].first, groups[i].second);
      const std::lock_guard<std::mutex> guard(mutex);
      code = std::max(code, done);
    }
  });
  return code;
}

static Result<int> MergeAll(const RecordsOptions& options) {
  HONE_ASSIGN_OR_RETURN(const int code, ForEachTask(options.files, options.out, [&](const auto& id, const auto& files) {
                          return ExitCodeOf(MergeTask(options.out, id, files));
                        }));
  if (Interrupted()) return Status::Interrupted("interrupted; merged files are complete; the same command continues");
  return code;
}

static Result<int> DistillAll(const RecordsOptions& options) {
  if (options.best < 1) return Status::Invalid("--best: must be 1 or more, is {}", options.best);
  HONE_ASSIGN_OR_RETURN(const int code, ForEachTask(options.files, options.out, [&](const auto& id, const auto& files) {
                          const Result<bool> kept = DistillTask(options, id, files);
                          return kept.ok() && !*kept ? kFailed : ExitCodeOf(kept.status());
                        }));
  if (Interrupted()) return Status::Interrupted("interrupted; written files are complete; remove them to start again");
  return code;
}

int MergeRecordFiles(const RecordsOptions& options) { return ExitCodeOf(MergeAll(options)); }

int DistillRecordFiles(const RecordsOptions& options) { return ExitCodeOf(DistillAll(options)); }

}  // namespace hone::command
