#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "command/records.h"
#include "command/work_status.h"

namespace hone::command {
namespace {

constexpr double kWatchSeconds = 1;
constexpr char kHomeAndClear[] = "\033[H\033[J";

Result<std::string> Text(const std::vector<std::string>& folders) {
  std::string text;
  for (const std::string& folder : folders) {
    HONE_ASSIGN_OR_RETURN(const WorkStatus status, ReadWorkStatus(folder));
    text += WorkStatusText(status);
  }
  return text;
}

}  // namespace

int ShowStatus(const RecordsOptions& options) {
  const bool screen = options.watch && IsTerminal(STDOUT_FILENO);
  for (bool first = true;; first = false) {
    const Result<std::string> text = Text(options.files);
    // A file may be replaced, or a folder made, while we look on.
    if (!text.ok() && (first || !options.watch)) return ExitCodeOf(text.status());
    const std::string shown = text.ok() ? *text : text.status().message() + "\n";
    std::fputs(screen ? kHomeAndClear : first ? "" : "\n", stdout);
    PrintOut(shown);
    std::fflush(stdout);  // whoever reads a pipe looks on, too
    if (!options.watch || Interrupted()) return kDone;
    RealClock()->SleepSeconds(kWatchSeconds);
    if (Interrupted()) return kDone;  // looking on has no end of its own
  }
}

}  // namespace hone::command
