#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "base/counted.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/heartbeat.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/threads.h"
#include "command/records/records.h"
#include "record/merge.h"
#include "record/store.h"

namespace hone::command {

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

static Result<int> MergeAll(const RecordsOptions& options) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> files, ExpandRecordFiles(options.files));
  HONE_ASSIGN_OR_RETURN(const Groups groups, GroupByTask(files));
  HONE_RETURN_IF_ERROR(MakeDirs(options.out));
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  int code = kDone;
  RunInThreads(static_cast<int64_t>(std::min(groups.size(), UsableCpus().size())), [&] {
    for (size_t i = next++; i < groups.size() && !Interrupted(); i = next++) {
      const Status merged = MergeTask(options.out, groups[i].first, groups[i].second);
      if (merged.ok()) continue;
      const std::lock_guard<std::mutex> guard(mutex);
      code = std::max(code, ExitCodeOf(merged));
    }
  });
  if (Interrupted()) return Status::Interrupted("interrupted; merged files are complete; the same command continues");
  return code;
}

int MergeRecordFiles(const RecordsOptions& options) { return ExitCodeOf(MergeAll(options)); }

}  // namespace hone::command
