#include <stdio.h>

#include <algorithm>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/heartbeat.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "command/report/report.h"
#include "library/loaded_network.h"
#include "nightly/accepted.h"
#include "nightly/night_file.h"

namespace hone::command {
namespace {

// Skips libraries whose name ends in `.untuned`, which only serve for comparison.
Result<std::vector<std::string>> JobsWithLibrary(const std::string& out) {
  std::vector<std::string> jobs;
  if (!Exists(out)) return jobs;
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDir(out));
  for (const std::string& name : names) {
    if (!EndsWith(name, ".untuned") && Exists(JoinPath(JoinPath(out, name), "manifest.json"))) jobs.push_back(name);
  }
  return jobs;
}

Status AcceptJob(const std::string& work, const std::string& job, const std::string& reason) {
  if (!IsPlainName(job)) return Status::Invalid("`{}` is not a job name", job);
  const std::string dir = JoinPath(work, "out/" + job), accepted = JoinPath(work, "accepted");
  HONE_ASSIGN_OR_RETURN(const library::LibraryFolder folder, library::ReadLibraryFolder(dir));
  nightly::Acceptance a{.recorded = FormatIso8601(RealClock()->WallSeconds()),
                        .by = fmt::format("{}@{}", UserName(), Hostname()),
                        .reason = reason,
                        .network = folder.network,
                        .target = folder.target,
                        .name = folder.name};
  const std::string choice = JoinPath(work, "best/" + job + ".choice.json");
  HONE_RETURN_IF_ERROR(MakeDirs(accepted));
  HONE_ASSIGN_OR_RETURN(FileLock lock, FileLock::Acquire(JoinPath(accepted, job + ".lock")));
  Heartbeat heartbeat(&lock);
  nightly::AcceptInput input{accepted, job, dir, Exists(choice) ? choice : ""};
  // A half-built or damaged library must not become a reference.
  input.check = [&] { return library::CheckedLibrary(dir).status(); };
  input.still_ours = [&] { return heartbeat.Check(); };
  bool moved = false;
  HONE_ASSIGN_OR_RETURN(a, nightly::Accept(input, a, &moved));
  if (!moved) {
    fmt::print("{}: {} is the reference already (accepted {}: {})\n", job, a.digest, a.recorded, Printable(a.reason));
  } else if (a.before.empty()) {
    fmt::print("{}: {} is the first reference, and the canary\n", job, a.digest);
  } else {
    fmt::print("{}: the reference moves from {} to {}\n", job, a.before, a.digest);
  }
  return Status();
}

Status AcceptJobs(const AcceptOptions& options) {
  if (Trim(options.reason).empty()) return Status::Invalid("--reason is empty; give a reason for the history");
  if (options.jobs.empty() != options.all) return Status::Invalid("name jobs (NET.TARGET), or --all, not both");
  const std::string out = JoinPath(options.work, "out");
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> there, JobsWithLibrary(out));
  if (there.empty()) return Status::NotFound("{}: no library there; tune a network first", out);
  const std::vector<std::string>& jobs = options.all ? there : options.jobs;
  for (const std::string& job : jobs) {
    if (std::find(there.begin(), there.end(), job) != there.end()) continue;
    return Status::NotFound("{}: no library of a job `{}`{}", out, job, SuggestionText(job, there));
  }
  for (const std::string& job : jobs) HONE_RETURN_IF_ERROR(AcceptJob(options.work, job, options.reason));
  return Status();
}

Status ShowVerdict(const VerdictOptions& options, const nightly::NightlyData& data) {
  const nightly::NightlyFolders& folders = options.folders;
  if (!folders.out.empty()) HONE_RETURN_IF_ERROR(nightly::WriteNightlyReport(data, folders.out));
  HONE_RETURN_IF_ERROR(data.unreadable);
  for (const std::string& problem : data.problems) LogWarning(problem);
  fmt::print("{}", data.verdict.Text());
  if (fflush(stdout) != 0) return Status::Io("cannot write to stdout");
  return options.close ? nightly::CloseNight(nightly::SeriesDir(folders.nights, folders.series)) : Status();
}

}  // namespace

int RunAccept(const AcceptOptions& options) { return ExitCodeOf(AcceptJobs(options)); }

int RunVerdict(const VerdictOptions& options) {
  const nightly::NightlyData data = nightly::ReadNights(options.folders);
  const Status status = ShowVerdict(options, data);
  return status.ok() ? data.verdict.ExitCode() : ExitCodeOf(status);
}

}  // namespace hone::command
