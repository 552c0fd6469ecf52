// hone-report: the result and the cost of tuning, for a terminal, a browser and a build server.
#pragma once

#include <string>

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

}  // namespace hone::command
