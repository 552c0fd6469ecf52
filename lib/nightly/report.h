// The report of a regression run: what the last night of a series says of every accepted job, as a page and for build
// servers. Both are functions of NightlyData alone.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "nightly/accepted.h"
#include "nightly/environment.h"
#include "nightly/history.h"
#include "nightly/verdict.h"

namespace hone::nightly {

inline constexpr size_t kNightsShown = 90;

struct NightlyJob {
  std::string job;
  std::vector<Night> nights;         // oldest first
  std::vector<Acceptance> accepted;  // in order; the last one holds
  std::string page;                  // address of the job's own report, relative to this one's; empty: none
  // By Conclude:
  Trend trend;  // of `nights`
  JobVerdict verdict;
};

struct NightlyData {
  std::string series = "main";        // or "replay"
  std::string night;                  // which night; empty: the last one in any history
  std::vector<NightlyJob> jobs;       // by name
  std::vector<std::string> problems;  // damaged lines, files that cannot be read: a sentence each
  Status unreadable;                  // the first file without which there is no verdict
  // By Conclude:
  Verdict verdict;
  size_t older = 0;  // nights that were left out as there are more than kNightsShown

  // The jobs in the order of a reader's interest: slower, failed, missing, environment, faster, fine; by name in each.
  std::vector<const NightlyJob*> ByInterest() const;
  const Night* Tonight(const NightlyJob& job) const;  // null: the job was not measured that night
};

struct NightlyFolders {
  std::string nights = "nights";      // of the histories
  std::string accepted = "accepted";  // folder of the references; their jobs are judged
  std::string series = "main";
  std::string out;  // folder of the report; empty: write no report
};

// Reads the files and draws the conclusions. An unreadable file becomes one of `problems` and is no error, so that one
// damaged history does not cost the page about all other networks.
NightlyData ReadNights(const NightlyFolders& folders);

// Judges the night, finds the changes of the trends, and keeps the last kNightsShown nights.
void Conclude(NightlyData* data);

std::string NightlyHtml(const NightlyData& data);  // one page that needs nothing else
// One test case for each job: "slower" is a failure, "not measured" an error; a disturbed night is skipped.
std::string NightlyJunit(const NightlyData& data);
// index.html and junit.xml, each only if its bytes change.
Status WriteNightlyReport(const NightlyData& data, const std::string& out);

}  // namespace hone::nightly
