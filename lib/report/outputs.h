// The four forms of a report. Each is a function of the data alone (no clock, no machine), so that equal data give
// equal bytes. Names and messages may contain anything; each form escapes them. doc/reference/report.md describes them.
#pragma once

#include <string>

#include "report/report_data.h"

namespace hone::report {

inline constexpr int kReportVersion = 2;  // of report.json

// For terminals as well as Markdown: about 25 lines of at most 100 columns.
std::string MarkdownText(const ReportData& data);

// All facts. Contains no '<', so that a page can include it verbatim.
std::string JsonText(const ReportData& data);

// One case for the verification, and one per task for whether it has a correct trial.
std::string JunitText(const ReportData& data);

// A self-contained page: no scripts, no other files; supports both colour schemes, paper and narrow screens.
std::string HtmlText(const ReportData& data);

}  // namespace hone::report
