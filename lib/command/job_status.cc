#include <fmt/format.h>

#include <cstdio>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "command/records.h"

namespace hone::command {
namespace {

constexpr char kSuffix[] = ".progress.json";
constexpr double kWatchSeconds = 1;

Result<std::string> LineOf(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Json json, ReadJsonFile(path));
  JsonReader reader(json, path), best;
  std::string task, state, host, updated;
  int64_t trials = 0, budget = 0;
  HONE_RETURN_IF_ERROR(reader.ReadVersion(1));
  HONE_RETURN_IF_ERROR(reader.Read("task", &task));
  HONE_RETURN_IF_ERROR(reader.Read("state", &state));
  HONE_RETURN_IF_ERROR(reader.Read("host", &host));
  HONE_RETURN_IF_ERROR(reader.Read("updated", &updated));
  HONE_RETURN_IF_ERROR(reader.Read("trials", &trials));
  HONE_RETURN_IF_ERROR(reader.Read("budget", &budget));
  std::string fastest = "nothing correct yet";
  if (reader.Has("best")) {
    double seconds = 0;
    HONE_RETURN_IF_ERROR(reader.Read("best", &best));
    HONE_RETURN_IF_ERROR(best.Read("seconds", &seconds));
    fastest = "best " + FormatSeconds(seconds);
  }
  return fmt::format("{}  {}  {}/{} trials, {}  (on {}, {})\n", task, state, trials, budget, fastest, host, updated);
}

Status Print(const std::vector<std::string>& folders) {
  std::string text;
  for (const std::string& folder : folders) {
    HONE_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListDir(folder));
    for (const std::string& name : names) {
      if (!EndsWith(name, kSuffix)) continue;
      HONE_ASSIGN_OR_RETURN(const std::string line, LineOf(JoinPath(folder, name)));
      text += line;
    }
  }
  if (text.empty()) text = "no job has run here\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
  return Status();
}

}  // namespace

int ShowStatus(const RecordsOptions& options) {
  while (true) {
    if (const Status status = Print(options.files); !status.ok()) return ExitCodeOf(status);
    if (!options.watch || Interrupted()) return kDone;
    RealClock()->SleepSeconds(kWatchSeconds);
    if (Interrupted()) return kDone;  // looking on has no end of its own
    std::fputc('\n', stdout);
  }
}

}  // namespace hone::command
