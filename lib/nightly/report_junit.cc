#include "nightly/report.h"
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

}  // namespace

std::string NightlyJunit(const NightlyData& data) {
  JunitSuite suite{data.series == "main" ? "nightly" : "nightly-" + data.series, 0, data.verdict.night, "", {}};
  for (const NightlyJob& job : data.jobs) {
    JunitCase c{job.job + ": as fast as accepted", 0, StateOf(job.verdict.state), job.verdict.words, ""};
    if (const Night* night = data.Tonight(job)) {
      for (const double seconds : night->library.processes) c.seconds += seconds;
      suite.host = night->host;
    }
    suite.seconds += c.seconds;
    suite.cases.push_back(std::move(c));
  }
  // A night without anything to compare must not look like one in which all is well.
  if (data.jobs.empty()) suite.cases.push_back({"accepted libraries", 0, State::kError, "nothing is accepted", ""});
  return JunitSuiteText(suite);
}

}  // namespace hone::nightly
