// hone-report nightly --out: the pages about a night and those before it.
#pragma once

#include <string>

#include "base/result.h"
#include "nightly/report_data.h"

namespace hone::command {

struct NightlyReportOptions {
  std::string nights = "nights";      // folder of the histories
  std::string accepted = "accepted";  // folder of the references
  std::string best = "best";          // folder of the choices of today
  std::string series = "main";        // main (which tells of the replay, too) or replay
  std::string out;                    // folder; its report.md, report.json, junit.xml and index.html
};

// Reads the files. An unreadable one is a problem in the data, not an error: a page about nine networks is worth more
// than none about ten.
nightly::NightlyData CollectNights(const NightlyReportOptions& options);

// Writes the four files, each only if its bytes change.
Status WriteNightlyReport(const NightlyReportOptions& options);

}  // namespace hone::command
