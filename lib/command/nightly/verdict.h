// The verdict of a nightly run: the end of every series, and its exit code.
#pragma once

#include <string>

#include "base/result.h"
#include "nightly/verdict.h"

namespace hone::command {

struct VerdictOptions {
  std::string nights = "nights";      // folder of the histories
  std::string accepted = "accepted";  // folder of the references: whose verdict is asked for
  std::string series = "main";        // main or replay
  bool close = false;                 // the night is over: whatever is measured from now on belongs to another one
};

// The verdict on the last run of the series. Warns about malformed lines.
Result<nightly::Verdict> ReadVerdict(const VerdictOptions& options);

// Prints it to stdout, closes the night if asked, and returns its exit code (nightly/verdict.h), or 1 or 2 with a line
// on stderr if the histories cannot be read.
int RunVerdict(const VerdictOptions& options);

}  // namespace hone::command
