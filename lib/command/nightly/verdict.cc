#include "command/nightly/verdict.h"

#include <fmt/format.h>
#include <stdio.h>

#include <map>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "nightly/accepted.h"
#include "nightly/night_file.h"

namespace hone::command {
namespace {

void Warn(const std::vector<std::string>& damaged) {
  for (const std::string& line : damaged) LogWarning(line + "; skipping this night");
}

}  // namespace

Result<nightly::Verdict> ReadVerdict(const VerdictOptions& options) {
  const std::string dir = nightly::SeriesDir(options.nights, options.series);
  HONE_ASSIGN_OR_RETURN(const std::vector<std::string> jobs, nightly::AcceptedJobs(options.accepted));
  HONE_ASSIGN_OR_RETURN(const std::string night, nightly::LastNight(dir));
  std::map<std::string, std::vector<nightly::Night>> nights;
  for (const std::string& job : jobs) {
    const std::string path = nightly::HistoryPath(options.nights, options.series, job);
    HONE_ASSIGN_OR_RETURN(nightly::History history, nightly::ReadHistory(path));
    Warn(history.damaged);
    nights[job] = std::move(history.nights);
  }
  return nightly::Judge(nights, night);
}

int RunVerdict(const VerdictOptions& options) {
  const Result<nightly::Verdict> verdict = ReadVerdict(options);
  if (!verdict.ok()) return ExitCodeOf(verdict.status());
  fmt::print("{}", verdict->Text());
  if (fflush(stdout) != 0) return ExitCodeOf(Status::Io("cannot write to stdout"));
  if (options.close) {
    const Status closed = nightly::CloseNight(nightly::SeriesDir(options.nights, options.series));
    if (!closed.ok()) return ExitCodeOf(closed);
  }
  return verdict->ExitCode();
}

}  // namespace hone::command
