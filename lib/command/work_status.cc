#include "command/work_status.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/file.h"
#include "base/json.h"
#include "base/lock.h"
#include "base/text.h"
#include "pipeline/task_list.h"
#include "task/outcome.h"

namespace hone::command {
namespace {

constexpr char kProgress[] = ".progress.json";
constexpr char kTasks[] = ".tasks.json";

Result<JobState> StateOf(const std::string& text, const std::string& path) {
  if (text == "running") return JobState::kRunning;
  if (text == "done") return JobState::kDone;
  if (text == "interrupted") return JobState::kInterrupted;
  if (text == "failed") return JobState::kFailed;
  return Status::Invalid(fmt::format("{}: /state: \"{}\" is none that is known", path, Printable(text)));
}

Result<JobStatus> ReadJob(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  JsonReader reader(json, path), best;
  JobStatus job;
  std::string state;
  HONE_RETURN_IF_ERROR(reader.ReadVersion(1));
  HONE_RETURN_IF_ERROR(reader.Read("task", &job.task));
  HONE_RETURN_IF_ERROR(reader.Read("state", &state));
  HONE_RETURN_IF_ERROR(reader.Read("host", &job.host));
  HONE_RETURN_IF_ERROR(reader.Read("updated", &job.updated));
  HONE_RETURN_IF_ERROR(reader.Read("trials", &job.trials));
  HONE_RETURN_IF_ERROR(reader.Read("budget", &job.budget));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("pid", &job.pid));
  double tuning = 0;
  HONE_RETURN_IF_ERROR(reader.ReadOptional("tuning_seconds", &tuning));
  if (reader.Has("best")) {
    HONE_RETURN_IF_ERROR(reader.Read("best", &best));
    HONE_RETURN_IF_ERROR(best.Read("seconds", &job.best_seconds));
  }
  HONE_ASSIGN_OR_RETURN(job.state, StateOf(state, path));
  if (job.trials > 0 && tuning > 0) job.trial_seconds = tuning / static_cast<double>(job.trials);
  if (job.state != JobState::kRunning) return job;
  const std::string db = path.substr(0, path.size() - std::string(kProgress).size()) + ".db";
  HONE_ASSIGN_OR_RETURN(const std::optional<LockHolder> holder, FileLock::Holder(db + ".lock"));
  // It writes its last state before it gives the lock back.
  if (!holder || holder->gone) job.state = JobState::kGone;
  return job;
}

// A file that is being replaced, or is somebody's mistake, does not hide the others.
Status AddFolder(const std::string& folder, const std::string& target, std::vector<JobStatus>* jobs) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDir(folder));
  for (const std::string& name : names) {
    if (!EndsWith(name, kProgress)) continue;
    HONE_ASSIGN_OR_RETURN(JobStatus job, ReadJob(JoinPath(folder, name)));
    job.target = target;
    jobs->push_back(std::move(job));
  }
  return Status();
}

// Tasks of the lists in tasks/NET.TARGET.tasks.json without records: there is no stamp either, or it was tuned
// elsewhere.
Status AddPlanned(const std::string& work, std::vector<JobStatus>* jobs) {
  auto names = ListDir(JoinPath(work, "tasks"));
  if (!names.ok()) return Status();  // nothing is extracted yet
  auto stamps = ListDir(JoinPath(work, "stamps"));
  std::set<std::string> known;
  for (const JobStatus& job : *jobs) known.insert(job.target + "/" + job.task);
  for (const std::string& name : *names) {
    if (!EndsWith(name, kTasks)) continue;
    const std::string stem = name.substr(0, name.size() - std::string(kTasks).size());
    const size_t dot = stem.rfind('.');
    if (dot == std::string::npos) continue;
    const std::string target = stem.substr(dot + 1);
    HONE_ASSIGN_OR_RETURN(const pipeline::TaskList list, pipeline::ReadTaskList(JoinPath(work, "tasks/" + name)));
    for (const pipeline::TaskEntry& entry : list.tasks) {
      if (!known.insert(target + "/" + entry.id).second) continue;
      JobStatus job;
      job.task = entry.id;
      job.target = target;
      const auto done = [&](const std::string& stamp) { return StartsWith(stamp, entry.id + "." + target + "."); };
      if (stamps.ok() && std::any_of(stamps->begin(), stamps->end(), done)) job.state = JobState::kDone;
      jobs->push_back(std::move(job));
    }
  }
  return Status();
}

bool HasMore(const JobStatus& job) {
  return job.state == JobState::kRunning || job.state == JobState::kWaiting || job.state == JobState::kGone ||
         job.state == JobState::kInterrupted;
}

// Of all targets together a trial of a CPU would say nothing on one of a GPU.
void Estimate(WorkStatus* status) {
  std::map<std::string, std::vector<double>> costs, budgets;
  for (const JobStatus& job : status->jobs) {
    if (job.trial_seconds > 0) costs[job.target].push_back(job.trial_seconds);
    if (job.budget > 0) budgets[job.target].push_back(static_cast<double>(job.budget));
  }
  bool known = true;
  double left = 0;
  for (JobStatus& job : status->jobs) {
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

std::string Line(const JobStatus& job) {
  const std::string best = job.best_seconds > 0 ? "best " + FormatSeconds(job.best_seconds) : "nothing correct yet";
  if (job.state == JobState::kWaiting) return fmt::format("{}  waiting\n", Printable(job.task));
  if (job.updated.empty()) return fmt::format("{}  done\n", Printable(job.task));
  std::string line = fmt::format("{}  {}  {}/{} trials, {}", Printable(job.task), JobStateName(job.state), job.trials,
                                 job.budget, best);
  if (job.left_seconds > 0) line += fmt::format(", about {} left", About(job.left_seconds));
  line += fmt::format("  (on {}, {})\n", Printable(job.host), Printable(job.updated));
  return line;
}

}  // namespace

const char* JobStateName(JobState state) {
  switch (state) {
    case JobState::kRunning:
      return "running";
    case JobState::kGone:
      return "gone";
    case JobState::kWaiting:
      return "waiting";
    case JobState::kDone:
      return "done";
    case JobState::kInterrupted:
      return "interrupted";
    case JobState::kFailed:
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
      HONE_RETURN_IF_ERROR(AddFolder(JoinPath(records, target), target, &status.jobs));
    }
  } else if (!IsDirectory(JoinPath(folder, "tasks"))) {
    HONE_RETURN_IF_ERROR(AddFolder(folder, BaseName(folder), &status.jobs));
  }
  HONE_RETURN_IF_ERROR(AddPlanned(folder, &status.jobs));
  std::sort(status.jobs.begin(), status.jobs.end(), [](const JobStatus& a, const JobStatus& b) {
    return std::tie(a.target, a.task) < std::tie(b.target, b.task);
  });
  Estimate(&status);
  return status;
}

std::string WorkStatusText(const WorkStatus& status) {
  if (status.jobs.empty()) return "no job has run here\n";
  std::map<JobState, int> counts;
  std::string text;
  for (const JobStatus& job : status.jobs) {
    ++counts[job.state];
    text += Line(job);
  }
  std::vector<std::string> parts;
  for (const auto& [state, count] : counts) parts.push_back(fmt::format("{} {}", count, JobStateName(state)));
  text += Join(parts, ", ");
  if (status.left_seconds > 0) text += fmt::format("; about {} left", About(status.left_seconds));
  if (counts[JobState::kGone] > 0) text += "; what is gone was killed: run the same command again";
  return text + "\n";
}

}  // namespace hone::command
