#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "command/records/records.h"
#include "command/records/work_status.h"

namespace hone::command {
namespace {

constexpr double kWatchSeconds = 1;
constexpr char kHomeAndClear[] = "\033[H\033[J";

// *whole: all files could be read.
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
    // A file may be replaced, or a folder made, while we look on.
    if (!text.ok() && (first || !options.watch)) return ExitCodeOf(text.status());
    const std::string shown = text.ok() ? *text : text.status().message() + "\n";
    std::fputs(screen ? kHomeAndClear : first ? "" : "\n", stdout);
    PrintOut(shown);
    std::fflush(stdout);  // whoever reads a pipe looks on, too
    if (!options.watch) return whole ? kDone : kFailed;
    if (Interrupted()) return kDone;
    RealClock()->SleepSeconds(kWatchSeconds);
    if (Interrupted()) return kDone;  // looking on has no end of its own
  }
}

}  // namespace hone::command
