// What a night says on the whole.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "nightly/history.h"

namespace hone::nightly {

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

}  // namespace hone::nightly
