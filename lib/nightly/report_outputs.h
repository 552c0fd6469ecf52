// The four forms of a regression run's report (report/outputs.h has a job's). Each is a function of the data alone;
// call Conclude first.
#pragma once

#include <string>

#include "nightly/report_data.h"

namespace hone::nightly {

inline constexpr int kNightlyVersion = 1;  // of report.json

std::string NightlyMarkdown(const NightlyData& data);  // the verdict, and a row a job; at most 100 columns
std::string NightlyJson(const NightlyData& data);      // all facts; no '<' in it
// A case a job and series: slower is a failure, not measured an error, a night that says nothing is skipped.
std::string NightlyJunit(const NightlyData& data);
std::string NightlyHtml(const NightlyData& data);  // one page that needs nothing else

}  // namespace hone::nightly
