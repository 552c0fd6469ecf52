// hone-report accept: makes a job's library the reference that nightly runs compare with.
#pragma once

#include <string>
#include <vector>

namespace hone::command {

struct AcceptOptions {
  std::string work = ".";         // work folder
  std::string reason;             // kept in the history
  std::vector<std::string> jobs;  // NET.TARGET
  bool all = false;               // every job that has a library
};

// Copies out/JOB, and best/JOB.choice.json as what it was built from, to accepted/ (lib/nightly/accepted.h) and records
// who did it, when and why. The reference of each job moves as a whole or not at all; jobs are accepted one after the
// other. Prints a line a job. Returns 0, 1 or 2.
int RunAccept(const AcceptOptions& options);

}  // namespace hone::command
