// The four forms of a report. Each is a function of the data alone (no clock, no machine), so that equal data give
// equal bytes. Names and messages may contain anything; each form escapes them. doc/reference/report.md describes them.
#pragma once

#include <string>
#include <vector>

#include "report/report_data.h"

namespace hone::report {

class PageWriter;

inline constexpr int kReportVersion = 3;  // of report.json

// For terminals as well as Markdown: about 25 lines of at most 100 columns.
std::string MarkdownText(const ReportData& data);

// All facts. Contains no '<', so that a page can include it verbatim.
std::string JsonText(const ReportData& data);

// One case for the verification, and one per task for whether it has a correct trial.
std::string JunitText(const ReportData& data);

// A self-contained page: no scripts, no other files; supports both colour schemes, paper and narrow screens.
std::string HtmlText(const ReportData& data);

struct JunitCase {
  std::string name;
  double seconds = 0;
  enum class State { kPassed, kFailed, kError, kSkipped } state = State::kPassed;
  std::string message;  // one line, unless it passed
  std::string details;
};

// The JUnit XML format of build servers, as Ant's junitreport and its successors read it.
struct JunitSuite {
  std::string name;
  double seconds = 0;
  std::string timestamp, host;
  std::vector<JunitCase> cases;
};

std::string JunitSuiteText(const JunitSuite& suite);

// How the tasks of a network were tuned: the trials' times with the best so far, and the times by values of the most
// important knobs.
void WriteTuning(const ReportData& data, PageWriter* page);

}  // namespace hone::report
