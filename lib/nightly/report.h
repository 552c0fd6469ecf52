// The verdict of a regression run and its report: the result of the last night of a series for every accepted job, as a
// page and for build servers. Both are functions of NightlyData alone.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "nightly/accepted.h"
#include "nightly/history.h"

namespace hone::nightly {

// The verdict of a night as a whole.

// In the order of a reader's interest.
enum class JobState {
  kSlower,       // confirmed
  kFailed,       // not measurable: crashed, wrong outputs, a damaged file
  kMissing,      // accepted, but not measured this night
  kEnvironment,  // measured, but the machine had changed
  kFaster,       // confirmed
  kFine,         // measured, neither slower nor faster than its reference
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
  std::string night;             // empty: no night
  std::vector<JobVerdict> jobs;  // by name

  int Count(JobState state) const;
  // 1: a job is confirmed to be slower. 3: no job has a usable measurement, or there are no jobs. Else 0.
  int ExitCode() const;
  // The first line is the verdict: "1 of 6 jobs is slower"; then a line per job, the worst first.
  std::string Text() const;
};

// `histories` has the nights of every accepted job. `night` selects one; empty: the last one of any of them.
Verdict Judge(const std::map<std::string, std::vector<Night>>& histories, std::string night = "");

inline constexpr size_t kNightsShown = 90;

struct NightlyJob {
  std::string job;
  std::vector<Night> nights;         // oldest first
  std::vector<Acceptance> accepted;  // in order; the last one is valid
  std::string page;                  // relative address of the job's own report; empty if there is none
  JobVerdict verdict;                // set by Conclude
};

struct NightlyData {
  std::string series = "main";        // or "replay"
  std::string night;                  // which night; empty: the last one in any history
  std::vector<NightlyJob> jobs;       // by name
  std::vector<std::string> problems;  // a sentence for each damaged line and unreadable file
  Status unreadable;                  // the first unreadable file that the verdict needs
  // Set by Conclude:
  Verdict verdict;
  size_t older = 0;  // number of omitted nights beyond kNightsShown

  // The jobs in order of importance: slower, failed, missing, environment, faster, fine; by name within each.
  std::vector<const NightlyJob*> ByInterest() const;
  const Night* Tonight(const NightlyJob& job) const;  // null if the job was not measured that night
};

struct NightlyFolders {
  std::string nights = "nights";      // folder of the histories
  std::string accepted = "accepted";  // folder of the references, whose jobs are judged
  std::string series = "main";
  std::string out;  // folder for the report; empty: no report
};

// Reads the files and draws the conclusions. An unreadable file is added to `problems` and is not an error, so that the
// page still shows all other networks.
NightlyData ReadNights(const NightlyFolders& folders);

// Judges the night, and keeps only the last kNightsShown nights.
void Conclude(NightlyData* data);

std::string NightlyHtml(const NightlyData& data);  // one self-contained page
// One test case for each job: "slower" is a failure, "not measured" an error; a disturbed night is skipped.
std::string NightlyJunit(const NightlyData& data);
// index.html and junit.xml, each only if its bytes change.
Status WriteNightlyReport(const NightlyData& data, const std::string& out);

}  // namespace hone::nightly
