#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/statistics.h"
#include "base/text.h"
#include "command/common/network_rounds.h"
#include "command/records/records.h"
#include "pipeline/progress_file.h"
#include "pipeline/stamp_files.h"
#include "pipeline/task_list.h"

namespace hone::command {
namespace {

constexpr char kTasks[] = ".tasks.json";
constexpr double kWatchSeconds = 1;
constexpr char kHomeAndClear[] = "\033[H\033[J";

enum class State {
  kRunning,
  kGone,     // claims to run, but its process is gone or has been silent for long
  kWaiting,  // planned, but not started
  kDone,
  kInterrupted,
  kFailed,
};
constexpr const char* kStates[] = {"running", "gone", "waiting", "done", "interrupted", "failed"};
const char* NameOf(State state) { return kStates[static_cast<size_t>(state)]; }

struct Job {
  std::string target;
  State state = State::kWaiting;
  pipeline::JobProgress progress;  // only the task if it has not started
  double left_seconds = -1;        // until the whole budget is spent; below 0: unknown
};

struct WorkStatus {
  std::vector<Job> jobs;  // by target, then task
  // The tasks of each network on a target, "TARGET/TASK"; networks may share tasks.
  std::map<std::string, std::vector<std::string>> networks;
  std::vector<std::string> rounds;  // tables of networks whose total is shared in rounds
  std::set<std::string> in_rounds;  // their tasks, "TARGET/TASK"
  // The seconds, and the trials on each target, that these networks have not spent yet.
  double rounds_left_seconds = 0;
  std::map<std::string, double> rounds_left_trials;
  double left_seconds = -1;         // of all running, waiting and stopped jobs, one after the other; below 0: unknown
  std::vector<std::string> failed;  // messages for networks that could not be extracted
  std::vector<std::string> unread;  // messages for files that could not be read; their jobs are missing
};

Result<Job> ReadJob(const std::string& path, const std::string& target) {
  Job job{.target = target};
  HONE_ASSIGN_OR_RETURN(job.progress, pipeline::ReadProgress(path));
  const std::string& text = job.progress.state;
  const auto* name = std::find(std::begin(kStates), std::end(kStates), text);
  job.state = static_cast<State>(name - std::begin(kStates));
  if (name == std::end(kStates) || job.state == State::kGone || job.state == State::kWaiting) {
    return Status::Invalid("{}: /state: \"{}\" is not a known state", path, Printable(text));
  }
  if (job.state != State::kRunning) return job;
  const std::string db = path.substr(0, path.size() - std::string(pipeline::kProgressEnding).size()) + ".db";
  HONE_ASSIGN_OR_RETURN(const std::optional<LockHolder> holder, FileLock::Holder(db + ".lock"));
  // A process writes its last state before it releases the lock.
  if (!holder || holder->gone) job.state = State::kGone;
  return job;
}

// A malformed file, or one that is being replaced, does not hide the others.
Status AddFolder(const std::string& folder, const std::string& target, WorkStatus* status) {
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDir(folder));
  for (const std::string& name : names) {
    if (!EndsWith(name, pipeline::kProgressEnding)) continue;
    Result<Job> job = ReadJob(JoinPath(folder, name), target);
    if (job.ok()) {
      status->jobs.push_back(std::move(*job));
    } else {
      status->unread.push_back(job.status().message());
    }
  }
  return Status();
}

// Adds tasks of the lists in tasks/NET.TARGET.tasks.json without records: they were never tuned, or were tuned
// elsewhere.
void AddPlanned(const std::string& work, WorkStatus* status) {
  auto names = ListDir(JoinPath(work, "tasks"));
  if (!names.ok()) return;  // nothing has been extracted yet
  auto stamps = ListDir(JoinPath(work, "stamps"));
  std::set<std::string> known;
  for (const Job& job : status->jobs) known.insert(job.target + "/" + job.progress.task);
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
    auto rounds = FindRounds(work, stem, *list);
    if (!rounds.ok()) status->unread.push_back(rounds.status().message());
    if (rounds.ok() && *rounds && !(*rounds)->history.empty()) {
      for (size_t i = 0; i < list->tasks.size(); ++i) {
        for (const Job& job : status->jobs) {
          if (job.target != target || job.progress.task != list->tasks[i].id || job.state == State::kDone) continue;
          AddRunning(i, job.progress.trials, job.progress.best_seconds, &**rounds);
        }
      }
      status->rounds.push_back(RoundsText(**rounds));
      const bool by_time = (*rounds)->total.settings.seconds_total > 0;
      (by_time ? status->rounds_left_seconds : status->rounds_left_trials[target]) += Left(**rounds);
      for (const pipeline::TaskEntry& entry : list->tasks) status->in_rounds.insert(target + "/" + entry.id);
    }
    for (const pipeline::TaskEntry& entry : list->tasks) {
      status->networks[stem].push_back(target + "/" + entry.id);
      if (!known.insert(target + "/" + entry.id).second) continue;
      Job job{.target = target};
      job.progress.task = entry.id;
      const auto done = [&](const std::string& name) { return pipeline::IsStampOf(name, entry.id, target); };
      if (stamps.ok() && std::any_of(stamps->begin(), stamps->end(), done)) job.state = State::kDone;
      status->jobs.push_back(std::move(job));
    }
  }
}

// By target, since trials on a CPU tell nothing about trials on a GPU.
void Estimate(WorkStatus* status) {
  std::map<std::string, std::vector<double>> costs, budgets;
  for (const Job& job : status->jobs) {
    if (job.progress.trial_seconds > 0) costs[job.target].push_back(job.progress.trial_seconds);
    if (job.progress.budget > 0) budgets[job.target].push_back(static_cast<double>(job.progress.budget));
  }
  bool known = true;
  double left = status->rounds_left_seconds;
  for (Job& job : status->jobs) {
    if (status->in_rounds.count(job.target + "/" + job.progress.task) > 0) continue;  // the budget grows each round
    if (job.state == State::kDone || job.state == State::kFailed) continue;
    if (job.progress.budget == 0) job.progress.budget = static_cast<int64_t>(Median(budgets[job.target]));
    const double cost = job.progress.trial_seconds > 0 ? job.progress.trial_seconds : Median(costs[job.target]);
    if (cost > 0 && job.progress.budget > 0) {
      job.left_seconds = cost * static_cast<double>(std::max<int64_t>(0, job.progress.budget - job.progress.trials));
      left += job.left_seconds;
    } else {
      known = false;
    }
  }
  for (const auto& [target, trials] : status->rounds_left_trials) {
    const double cost = Median(costs[target]);
    known = known && (trials == 0 || cost > 0);
    left += trials * cost;
  }
  if (known) status->left_seconds = left;
}

// "45 s", "12 min", "3.5 h": an estimate needs no more digits.
std::string About(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string Line(const Job& job) {
  const pipeline::JobProgress& p = job.progress;
  if (p.updated.empty()) return fmt::format("{}  done\n", Printable(p.task));
  const std::string best = p.best_seconds > 0 ? "best " + FormatSeconds(p.best_seconds) : "nothing correct yet";
  const std::string left = job.left_seconds > 0 ? fmt::format(", about {} left", About(job.left_seconds)) : "";
  const std::string budget = p.budget < pipeline::kMostTrials ? fmt::format("/{}", p.budget) : "";
  return fmt::format("{}  {}  {}{} trials, {}{}  (on {}, {})\n", Printable(p.task), NameOf(job.state), p.trials, budget,
                     best, left, Printable(p.host), Printable(p.updated));
}

// `folder` is a work folder, or one with record files (work/records/TARGET). Only a work folder shows jobs that have
// not started. Jobs without trials get the median time per trial of the others.
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
  std::ranges::sort(status.jobs, {}, [](const Job& job) { return std::tie(job.target, job.progress.task); });
  Estimate(&status);
  return status;
}

// How many tasks of each network are in each state; only states of any task have a column.
std::string NetworksText(const WorkStatus& status, const std::map<State, int>& counts) {
  if (status.networks.empty()) return "";
  std::map<std::string, State> states;
  for (const Job& job : status.jobs) states[job.target + "/" + job.progress.task] = job.state;
  size_t width = 5;  // of the heading
  for (const auto& [name, tasks] : status.networks) width = std::max(width, name.size());
  std::string text = fmt::format("{:<{}}", "tasks", width);
  for (const auto& [state, count] : counts) text += fmt::format("  {:>11}", NameOf(state));
  for (const auto& [name, tasks] : status.networks) {
    text += fmt::format("\n{:<{}}", Printable(name), width);
    std::map<State, int> own;
    for (const std::string& task : tasks) ++own[states[task]];
    for (const auto& [state, count] : counts) text += fmt::format("  {:>11}", own[state]);
  }
  return text + "\n\n";
}

// A line per file that could not be read, a table of networks, a line per job that has begun, and one for all.
std::string WorkStatusText(const WorkStatus& status) {
  std::string text;
  for (const std::string& message : status.unread) text += fmt::format("cannot be read: {}\n", Printable(message));
  for (const std::string& message : status.failed) text += Printable(message) + "\n";
  if (status.jobs.empty())
    return text + (status.unread.empty() && status.failed.empty() ? "no job has run here\n" : "");
  std::map<State, int> counts;
  for (const Job& job : status.jobs) ++counts[job.state];
  text += NetworksText(status, counts);
  // A work folder plans hundreds of tasks that nobody has asked for yet: the table is enough for these.
  bool lines = false;
  // The tables below have what is done in rounds.
  for (const Job& job : status.jobs) {
    const bool told = job.state == State::kDone && status.in_rounds.count(job.target + "/" + job.progress.task) > 0;
    if (job.state == State::kWaiting || told) continue;
    text += Line(job);
    lines = true;
  }
  for (const std::string& table : status.rounds) text += (std::exchange(lines, true) ? "\n" : "") + table;
  if (!status.rounds.empty()) text += "\n";
  std::vector<std::string> parts;
  for (const auto& [state, count] : counts) parts.push_back(fmt::format("{} {}", count, NameOf(state)));
  text += Join(parts, ", ");
  if (status.left_seconds > 0) text += fmt::format("; about {} left", About(status.left_seconds));
  if (counts[State::kGone] > 0) text += "; gone jobs were killed: run the same command again";
  return text + "\n";
}

// Sets *whole if all files could be read.
Result<std::string> Text(const std::vector<std::string>& folders, bool* whole) {
  std::string text;
  *whole = true;
  for (const std::string& folder : folders) {
    HONE_ASSIGN_OR_RETURN(const WorkStatus status, ReadWorkStatus(folder));
    text += WorkStatusText(status);
    if (!status.unread.empty()) *whole = false;
  }
  return text;
}

}  // namespace

int ShowStatus(const RecordsOptions& options) {
  const bool screen = options.watch && IsTerminal(STDOUT_FILENO);
  for (bool first = true;; first = false) {
    bool whole = true;
    const Result<std::string> text = Text(options.files, &whole);
    // While watching, a file may be replaced, or a folder may appear.
    if (!text.ok() && (first || !options.watch)) return ExitCodeOf(text.status());
    const std::string shown = text.ok() ? *text : text.status().message() + "\n";
    std::fputs(screen ? kHomeAndClear : first ? "" : "\n", stdout);
    PrintOut(shown);
    std::fflush(stdout);  // for readers of a pipe
    if (!options.watch) return whole ? kDone : kFailed;
    if (Interrupted()) return kDone;
    RealClock()->SleepSeconds(kWatchSeconds);
    if (Interrupted()) return kDone;  // watching ends only by an interrupt
  }
}

}  // namespace hone::command
