// hone-report: the result and the cost of tuning, for a terminal, a browser and a build server; the verdict of nightly
// runs, and their references.
#pragma once

#include <string>
#include <vector>

#include "nightly/report.h"

namespace hone::command {

struct ReportOptions {
  std::string bench;    // bench/NET.TARGET.json
  std::string tasks;    // tasks/NET.TARGET.tasks.json
  std::string best;     // best/NET.TARGET.json
  std::string records;  // folder of the record files, TASKID.db
  std::string out;      // folder; its report.md, report.json, junit.xml and index.html, each only if its bytes change
};

// Returns the exit code: 0 done; 1 failed: an input is missing, damaged or about another network or target; or the
// report is written, and says that the tuned library's results are wrong.
int RunReport(const ReportOptions& options);

// hone-report nightly: the end of every series.
struct VerdictOptions {
  nightly::NightlyFolders folders;
  bool close = false;  // the night is over: whatever is measured from now on belongs to another one
};

// Writes the report if there is a folder for it, prints the verdict, and closes the night if asked. Returns the
// verdict's exit code (Verdict::ExitCode), or 1 or 2 with a line on stderr if the files cannot be read or written.
// Warns about malformed lines.
int RunVerdict(const VerdictOptions& options);

// hone-report accept: makes a job's library the reference that nightly runs compare with.
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
