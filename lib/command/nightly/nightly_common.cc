#include "command/nightly/nightly_common.h"

#include <fmt/format.h>

#include <utility>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "base/version.h"
#include "command/bench/library_process.h"
#include "compile/compile.h"
#include "measure/machine.h"
#include "nightly/night_file.h"
#include "nightly/samples.h"
#include "pipeline/task_list.h"
#include "session/fingerprint.h"

namespace hone::command {
namespace {

static_assert(nightly::kRunsOfTurn == library::kRunsOfTurn);

constexpr int kNightlyProtocol = 3;  // raised when nights measure in another way

}  // namespace

Result<SeriesJob> OpenSeries(const std::string& nights, const std::string& series, const std::string& accepted,
                             const std::string& job) {
  if (!pipeline::IsPlainName(job)) return Status::Invalid(fmt::format("--job: `{}` is not NET.TARGET", job));
  const std::string dir = nightly::SeriesDir(nights, series);
  HONE_ASSIGN_OR_RETURN(auto log, nightly::ReadAcceptances(accepted, job));
  HONE_RETURN_IF_ERROR(MakeDirs(dir));
  HONE_ASSIGN_OR_RETURN(FileLock lock, FileLock::Acquire(JoinPath(dir, job + ".lock")));
  HONE_ASSIGN_OR_RETURN(const std::string night, nightly::OpenNight(dir, RealClock()->WallSeconds()));
  return SeriesJob{dir, nightly::HistoryPath(nights, series, job), std::move(log), night, std::move(lock)};
}

Result<std::string> NightFingerprint(const Target& target) {
  if (target.kind->has_device()) KeepDeviceKernels();
  HONE_ASSIGN_OR_RETURN(const measure::Machine* machine, measure::FindMachine(target));
  HONE_ASSIGN_OR_RETURN(const runtime::DeviceInfo info, measure::DescribeMachine(target));
  return fmt::format("{}; nightly={}", machine->Environment(info), kNightlyProtocol);
}

library::TimeRequest NightRequest() {
  library::TimeRequest request;
  request.warmup = 5;
  request.iterations = 30;
  request.min_seconds = 1.2;
  request.max_seconds = 10;
  return request;
}

std::string NightTools() { return fmt::format("hone {}; codegen={}", kVersion, compile::CodegenVersion()); }

Result<std::map<std::string, double>> ReadFakeTimes(const std::string& path) {
  std::map<std::string, double> times;
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  for (const std::string& line : Split(text, '\n')) {
    const std::vector<std::string> words = SplitWords(line);
    if (words.empty()) continue;
    if (words.size() != 2) return Status::Invalid(path + ": expected lines `DIGEST SECONDS`");
    HONE_ASSIGN_OR_RETURN(times[words[0]], ParseDouble(words[1]));
  }
  return times;
}

Status NoTimeInvented(const std::string& digest) { return Status::Crashed(digest + ": no time is invented for it"); }

}  // namespace hone::command
