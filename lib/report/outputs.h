// The four forms of a report. Each is a function of the data alone (no clock, no machine), so that equal data give
// equal bytes. Names and messages may hold anything; each form escapes them. doc/reference/report.md describes them.
#pragma once

#include <string>

#include "report/report_data.h"

namespace hone::report {

inline constexpr int kReportVersion = 2;  // of report.json

// For a terminal as much as for Markdown: about 25 lines of at most 100 columns.
std::string MarkdownText(const ReportData& data);

// All facts. No '<' in it, so that it can stand in a page as it is.
std::string JsonText(const ReportData& data);

// One case for the verification, one for each task: has it a correct trial?
std::string JunitText(const ReportData& data);

// One page that needs nothing else: no scripts, no other files, both colour schemes, paper, narrow screens.
std::string HtmlText(const ReportData& data);

}  // namespace hone::report
