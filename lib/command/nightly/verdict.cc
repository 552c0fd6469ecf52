#include "command/nightly/verdict.h"

#include <fmt/format.h>
#include <stdio.h>

#include "base/interrupt.h"
#include "base/log.h"
#include "nightly/night_file.h"

namespace hone::command {
namespace {

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

int RunVerdict(const VerdictOptions& options) {
  const nightly::NightlyData data = nightly::ReadNights(options.folders);
  const Status status = ShowVerdict(options, data);
  return status.ok() ? data.verdict.ExitCode() : ExitCodeOf(status);
}

}  // namespace hone::command
