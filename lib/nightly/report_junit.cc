#include <fmt/format.h>

#include "nightly/report_outputs.h"
#include "report/junit_suite.h"

namespace hone::nightly {
namespace {

using report::JunitCase;
using report::JunitSuite;

using State = JunitCase::State;

State StateOf(JobState state) {
  switch (state) {
    case JobState::kSlower:
      return State::kFailed;
    case JobState::kFailed:
    case JobState::kMissing:
      return State::kError;
    case JobState::kEnvironment:
      return State::kSkipped;
    case JobState::kFaster:
    case JobState::kFine:
      break;
  }
  return State::kPassed;
}

JunitCase CaseOf(const NightlyJob& job, const NightSeries& series, const char* what) {
  JunitCase c;
  c.name = job.job + what;
  if (series.tonight != nullptr) {
    for (const double seconds : series.tonight->library.processes) c.seconds += seconds;
  }
  c.state = StateOf(series.verdict.state);
  c.message = series.verdict.words;
  for (const auto& [purpose, command] : job.commands) c.details += purpose + ": " + command + "\n";
  return c;
}

}  // namespace

std::string NightlyJunit(const NightlyData& data) {
  JunitSuite suite{data.series == "main" ? "nightly" : "nightly-" + data.series, 0, data.verdict.night, "", {}};
  for (const NightlyJob& job : data.jobs) {
    suite.cases.push_back(CaseOf(job, job.series, ": as fast as accepted"));
    if (job.series.tonight != nullptr) suite.host = job.series.tonight->host;
    if (!job.replay.nights.empty()) suite.cases.push_back(CaseOf(job, job.replay, ", replay: as fast as accepted"));
  }
  // A night without anything to compare must not look like one in which all is well.
  if (data.jobs.empty()) suite.cases.push_back({"accepted libraries", 0, State::kError, "nothing is accepted", ""});
  for (const JunitCase& c : suite.cases) suite.seconds += c.seconds;
  return JunitSuiteText(suite);
}

}  // namespace hone::nightly
