#include "command/records/work_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/file.h"
#include "base/lock.h"
#include "base/statistics.h"
#include "base/text.h"
#include "pipeline/progress_file.h"
#include "pipeline/task_list.h"

namespace hone::command {
namespace {

constexpr char kTasks[] = ".tasks.json";

Result<TuningState> StateOf(const std::string& text, const std::string& path) {
  if (text == "running") return TuningState::kRunning;
  if (text == "done") return TuningState::kDone;
  if (text == "interrupted") return TuningState::kInterrupted;
  if (text == "failed") return TuningState::kFailed;
  return Status::Invalid(fmt::format("{}: /state: \"{}\" is not a known state", path, Printable(text)));
}

Result<TuningStatus> ReadTuning(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const pipeline::JobProgress read, pipeline::ReadProgress(path));
  TuningStatus job;
  job.task = read.task;
  job.host = read.host;
  job.updated = read.updated;
  job.pid = read.pid;
  job.trials = read.trials;
  job.budget = read.budget;
  job.best_seconds = read.best_seconds;
  job.trial_seconds = read.trial_seconds;
  HONE_ASSIGN_OR_RETURN(job.state, StateOf(read.state, path));
  if (job.state != TuningState::kRunning) return job;
  const std::string db = path.substr(0, path.size() - std::string(pipeline::kProgressEnding).size()) + ".db";
  HONE_ASSIGN_OR_RETURN(const std::optional<LockHolder> holder, FileLock::Holder(db + ".lock"));
  // It writes its last state before it gives the lock back.
  if (!holder || holder->gone) job.state = TuningState::kGone;
  return job;
}

// A file that is being replaced, or is malformed, does not hide the others.
Status AddFolder(const std::string& folder, const std::string& target, WorkStatus* status) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDir(folder));
  for (const std::string& name : names) {
    if (!EndsWith(name, pipeline::kProgressEnding)) continue;
    Result<TuningStatus> job = ReadTuning(JoinPath(folder, name));
    if (job.ok()) {
      job->target = target;
      status->jobs.push_back(std::move(*job));
    } else {
      status->unread.push_back(job.status().message());
    }
  }
  return Status();
}

// Tasks of the lists in tasks/NET.TARGET.tasks.json without records: there is no stamp either, or it was tuned
// elsewhere.
void AddPlanned(const std::string& work, WorkStatus* status) {
  auto names = ListDir(JoinPath(work, "tasks"));
  if (!names.ok()) return;  // nothing is extracted yet
  auto stamps = ListDir(JoinPath(work, "stamps"));
  std::set<std::string> known;
  for (const TuningStatus& job : status->jobs) known.insert(job.target + "/" + job.task);
  for (const std::string& name : *names) {
    if (!EndsWith(name, kTasks)) continue;
    const std::string stem = name.substr(0, name.size() - std::string(kTasks).size());
    const size_t dot = stem.rfind('.');
    if (dot == std::string::npos) continue;
    const std::string target = stem.substr(dot + 1);
    const Result<pipeline::TaskList> list = pipeline::ReadTaskList(JoinPath(work, "tasks/" + name));
    if (!list.ok()) {
      status->unread.push_back(list.status().message());
      continue;
    }
    if (!list->failure.empty()) status->failed.push_back(stem + " cannot be extracted: " + list->failure);
    for (const pipeline::TaskEntry& entry : list->tasks) {
      if (!known.insert(target + "/" + entry.id).second) continue;
      TuningStatus job;
      job.task = entry.id;
      job.target = target;
      const auto done = [&](const std::string& stamp) { return StartsWith(stamp, entry.id + "." + target + "."); };
      if (stamps.ok() && std::any_of(stamps->begin(), stamps->end(), done)) job.state = TuningState::kDone;
      status->jobs.push_back(std::move(job));
    }
  }
}

bool HasMore(const TuningStatus& job) {
  return job.state == TuningState::kRunning || job.state == TuningState::kWaiting || job.state == TuningState::kGone ||
         job.state == TuningState::kInterrupted;
}

// By target, since a trial on a CPU says nothing about one on a GPU.
void Estimate(WorkStatus* status) {
  std::map<std::string, std::vector<double>> costs, budgets;
  for (const TuningStatus& job : status->jobs) {
    if (job.trial_seconds > 0) costs[job.target].push_back(job.trial_seconds);
    if (job.budget > 0) budgets[job.target].push_back(static_cast<double>(job.budget));
  }
  bool known = true;
  double left = 0;
  for (TuningStatus& job : status->jobs) {
    if (!HasMore(job)) continue;
    if (job.budget == 0) job.budget = static_cast<int64_t>(Median(budgets[job.target]));
    const double cost = job.trial_seconds > 0 ? job.trial_seconds : Median(costs[job.target]);
    if (cost > 0 && job.budget > 0) {
      job.left_seconds = cost * static_cast<double>(std::max<int64_t>(0, job.budget - job.trials));
      left += job.left_seconds;
    } else {
      known = false;
    }
  }
  if (known) status->left_seconds = left;
}

// "45 s", "12 min", "3.5 h": an estimate has no more digits than that.
std::string About(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string Line(const TuningStatus& job) {
  const std::string best = job.best_seconds > 0 ? "best " + FormatSeconds(job.best_seconds) : "nothing correct yet";
  if (job.state == TuningState::kWaiting) return fmt::format("{}  waiting\n", Printable(job.task));
  if (job.updated.empty()) return fmt::format("{}  done\n", Printable(job.task));
  std::string line = fmt::format("{}  {}  {}/{} trials, {}", Printable(job.task), TuningStateName(job.state),
                                 job.trials, job.budget, best);
  if (job.left_seconds > 0) line += fmt::format(", about {} left", About(job.left_seconds));
  line += fmt::format("  (on {}, {})\n", Printable(job.host), Printable(job.updated));
  return line;
}

}  // namespace

const char* TuningStateName(TuningState state) {
  switch (state) {
    case TuningState::kRunning:
      return "running";
    case TuningState::kGone:
      return "gone";
    case TuningState::kWaiting:
      return "waiting";
    case TuningState::kDone:
      return "done";
    case TuningState::kInterrupted:
      return "interrupted";
    case TuningState::kFailed:
      return "failed";
  }
  return "?";
}

Result<WorkStatus> ReadWorkStatus(const std::string& folder) {
  WorkStatus status;
  const std::string records = JoinPath(folder, "records");
  if (IsDirectory(records)) {
    HONE_ASSIGN_OR_RETURN(const std::vector<std::string> targets, ListDir(records));
    for (const std::string& target : targets) {
      if (!IsDirectory(JoinPath(records, target))) continue;
      HONE_RETURN_IF_ERROR(AddFolder(JoinPath(records, target), target, &status));
    }
  } else if (!IsDirectory(JoinPath(folder, "tasks"))) {
    HONE_RETURN_IF_ERROR(AddFolder(folder, BaseName(folder), &status));
  }
  AddPlanned(folder, &status);
  std::sort(status.jobs.begin(), status.jobs.end(), [](const TuningStatus& a, const TuningStatus& b) {
    return std::tie(a.target, a.task) < std::tie(b.target, b.task);
  });
  Estimate(&status);
  return status;
}

std::string WorkStatusText(const WorkStatus& status) {
  std::string text;
  for (const std::string& message : status.unread) text += fmt::format("cannot be read: {}\n", Printable(message));
  for (const std::string& message : status.failed) text += Printable(message) + "\n";
  if (status.jobs.empty())
    return text + (status.unread.empty() && status.failed.empty() ? "no job has run here\n" : "");
  std::map<TuningState, int> counts;
  for (const TuningStatus& job : status.jobs) {
    ++counts[job.state];
    text += Line(job);
  }
  std::vector<std::string> parts;
  for (const auto& [state, count] : counts) parts.push_back(fmt::format("{} {}", count, TuningStateName(state)));
  text += Join(parts, ", ");
  if (status.left_seconds > 0) text += fmt::format("; about {} left", About(status.left_seconds));
  if (counts[TuningState::kGone] > 0) text += "; gone jobs were killed: run the same command again";
  return text + "\n";
}

}  // namespace hone::command
