// The verdict of a nightly run and its report: the end of every series, and its exit code.
#pragma once

#include "nightly/report.h"

namespace hone::command {

struct VerdictOptions {
  nightly::NightlyFolders folders;
  bool close = false;  // the night is over: whatever is measured from now on belongs to another one
};

// Writes the report if there is a folder for it, prints the verdict, and closes the night if asked. Returns the
// verdict's exit code (nightly/verdict.h), or 1 or 2 with a line on stderr if the files cannot be read or written.
// Warns about malformed lines.
int RunVerdict(const VerdictOptions& options);

}  // namespace hone::command
