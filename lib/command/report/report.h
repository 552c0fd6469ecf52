// hone-report: the result and the cost of tuning, for a terminal, a browser and a build server; and the verdict and the
// references of regression runs.
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
  std::string out;  // folder for report.md, report.json, junit.xml, index.html; writes each only if its bytes change
};

// Returns the exit code: 0 done; 1 failed, as an input is missing, damaged or for another network or target; also 1 if
// the report was written but the tuned library's results are wrong.
int RunReport(const ReportOptions& options);

// hone-report nightly: reports the latest results of every series.
struct VerdictOptions {
  nightly::NightlyFolders folders;
  bool close = false;  // closes the night: later measurements belong to the next one
};

// Writes the report if a folder is given, prints the verdict, and closes the night if asked. Returns the verdict's exit
// code (Verdict::ExitCode), or 1 or 2 with a line on stderr if files cannot be read or written. Warns about malformed
// lines.
int RunVerdict(const VerdictOptions& options);

// hone-report accept: makes a job's library the reference for regression runs.
struct AcceptOptions {
  std::string work = ".";         // work folder
  std::string reason;             // recorded in the history
  std::vector<std::string> jobs;  // NET.TARGET
  bool all = false;               // every job that has a library
};

// Copies out/JOB, and best/JOB.choice.json (what it was built from), to accepted/ (lib/nightly/accepted.h), and records
// who accepted it, when and why. A job's reference moves as a whole or not at all; jobs are accepted one after the
// other. Prints a line per job. Returns 0, 1 or 2.
int RunAccept(const AcceptOptions& options);

}  // namespace hone::command
