// The verdict of a regression run and its report: what the last night of a series says of every accepted job, as a page
// and for build servers. Both are functions of NightlyData alone.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "nightly/accepted.h"
#include "nightly/history.h"

namespace hone::nightly {

// What a night says on the whole.

// In the order of a reader's interest.
enum class JobState {
  kSlower,       // confirmed
  kFailed,       // could not be measured: crashed, wrong outputs, a damaged file
  kMissing,      // accepted, but there is nothing of this night
  kEnvironment,  // measured, but the machine was not what it was
  kFaster,       // confirmed
  kFine,         // measured, and neither slower nor faster than its reference
};
const char* JobStateName(JobState state);  // "fine", "slower", "faster", "environment", "failed", "missing"

// One line: "+6.1 % (+5.2 .. +7.0), p = 0.0006, confirmed by a repeat".
std::string NightWords(const Night& night);

struct JobVerdict {
  std::string job;
  JobState state = JobState::kMissing;
  std::string words;  // NightWords, or why the job has no result
};

struct Verdict {
  std::string night;             // empty: there was none
  std::vector<JobVerdict> jobs;  // by name

  int Count(JobState state) const;
  // 1: a job is slower, confirmed. 3: of no job something usable was measured; also if there is none. Else 0.
  int ExitCode() const;
  // The first line is the verdict: "1 of 6 jobs is slower"; then a line a job, the worst first.
  std::string Text() const;
};

// `histories`: of every accepted job, the nights. `night`: whose; empty: the last one that any of them knows.
Verdict Judge(const std::map<std::string, std::vector<Night>>& histories, std::string night = "");

inline constexpr size_t kNightsShown = 90;

struct NightlyJob {
  std::string job;
  std::vector<Night> nights;         // oldest first
  std::vector<Acceptance> accepted;  // in order; the last one holds
  std::string page;                  // address of the job's own report, relative to this one's; empty: none
  JobVerdict verdict;                // by Conclude
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

// Judges the night, and keeps the last kNightsShown nights.
void Conclude(NightlyData* data);

std::string NightlyHtml(const NightlyData& data);  // one page that needs nothing else
// One test case for each job: "slower" is a failure, "not measured" an error; a disturbed night is skipped.
std::string NightlyJunit(const NightlyData& data);
// index.html and junit.xml, each only if its bytes change.
Status WriteNightlyReport(const NightlyData& data, const std::string& out);

}  // namespace hone::nightly
