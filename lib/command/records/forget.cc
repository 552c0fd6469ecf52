#include "record/forget.h"

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/heartbeat.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/text.h"
#include "command/records/records.h"
#include "pipeline/stamp_files.h"
#include "record/foreign_store.h"

namespace hone::command {

static Result<TrialError> KindNamed(const std::string& name) {
  Result<TrialError> error = ParseTrialError(name);
  if (error.ok() && *error != TrialError::kNone) return error;
  return Status::Invalid("--error: no trial fails with `{}`{}", Printable(name),
                         SuggestionText(name, TrialErrorNames()));
}

static Status ForgetIn(const std::string& path, TrialError error, double since, bool dry_run) {
  if (!Exists(path)) return Status::NotFound(path + ": no such record file");
  if (record::IsForeignFile(path))
    return Status::Invalid(path + ": records of another tuner; Hone does not change them");
  std::optional<FileLock> lock;
  std::optional<Heartbeat> heartbeat;
  if (!dry_run) {
    HONE_ASSIGN_OR_RETURN(FileLock job, FileLock::Acquire(path + ".lock"));
    lock.emplace(std::move(job));
    heartbeat.emplace(&*lock);
  }
  const double written = ModifiedSeconds(path);
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Trial> trials, record::FindForgettable(path, error, since));
  if (dry_run) {
    PrintOut("{}: {} would be removed\n", Printable(path), Counted(static_cast<int64_t>(trials.size()), "trial"));
    for (const record::Trial& t : trials) {
      const std::string failed = t.outcome.state == TrialState::kFailed ? TrialErrorName(t.outcome.error)
                                                                        : "ok, with the time of one of these";
      PrintOut("  {:>5}  {}  {}  ({})\n", t.ordinal, failed, t.outcome.config.Text(),
               Printable(CutMiddle(t.outcome.error_text, 200)));
    }
    return Status();
  }
  std::vector<std::string> stamps;
  if (!trials.empty()) {
    HONE_ASSIGN_OR_RETURN(stamps, pipeline::StampsOfRecords(path));
    std::vector<int64_t> ordinals;
    for (const record::Trial& t : trials) ordinals.push_back(t.ordinal);
    // The stamps go before the commit: without them the next run just looks into the records, but a stamp without its
    // trials would say for ever that the task is tuned.
    const auto before_commit = [&]() -> Status {
      HONE_RETURN_IF_ERROR(heartbeat->Check());
      for (const std::string& stamp : stamps) HONE_RETURN_IF_ERROR(Remove(stamp));
      return Status();
    };
    HONE_RETURN_IF_ERROR(record::RemoveTrials(path, ordinals, before_commit, written));
  }
  const std::string and_stamps = stamps.empty() ? "" : ", and " + Counted(static_cast<int64_t>(stamps.size()), "stamp");
  PrintOut("{}: {} removed{}\n", Printable(path), Counted(static_cast<int64_t>(trials.size()), "trial"), and_stamps);
  return Status();
}

int ForgetTrials(const ForgetOptions& options) {
  const Result<TrialError> error = KindNamed(options.error);
  if (!error.ok()) return ExitCodeOf(error.status());
  double since = 0;
  if (!options.since.empty()) {
    const Result<double> time = ParseTime(options.since, RealClock()->WallSeconds());
    if (!time.ok()) return ExitCodeOf(time.status().WithContext("--since"));
    since = *time;
  }
  return ForEachRecordFile(options.files, [&](const std::string& path) {
    return ExitCodeOf(Interrupted() ? Status::Interrupted("interrupted before {}; the same command continues", path)
                                    : ForgetIn(path, *error, since, options.dry_run));
  });
}

}  // namespace hone::command
