#include <algorithm>

#include "report/html.h"
#include "report/outputs.h"

namespace hone::report {

using State = JunitCase::State;

constexpr const char* kTags[] = {nullptr, "failure", "error", "skipped"};  // by State

static JunitCase VerificationCase(const ReportData& data) {
  const Verification& v = data.bench.verification;
  JunitCase c{"verification", 0, State::kPassed, "", ""};
  if (v.ok) return c;
  c.state = State::kFailed;
  c.message = fmt::format("largest error {:.3g} of the reference's standard deviation, allowed {:.3g}", v.max_error,
                          v.tolerance);
  return c;
}

static JunitCase TaskCase(const TaskFact& task) {
  JunitCase c{task.id + ": has a correct trial", task.wall_seconds, State::kPassed, "", ""};
  if (task.HasCorrectTrial()) return c;
  c.state = State::kFailed;
  c.message = CountsText(TotalsOf(task)) + "; built from: " + task.source;
  c.details = task.workload + "\n";
  for (const FailureFact& f : task.failures) {
    c.details += fmt::format("{} x {}, first (trial {}): {}\n  {}\n", f.count, f.kind, f.trial, f.message,
                             f.repeat.empty() ? f.explain : f.repeat);
  }
  return c;
}

std::string JunitSuiteText(const JunitSuite& suite) {
  const auto count = [&](State state) {
    return std::to_string(std::ranges::count(suite.cases, state, &JunitCase::state));
  };
  HtmlWriter xml;
  xml.Trusted("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  xml.Open("testsuite", {{"name", suite.name},
                         {"tests", std::to_string(suite.cases.size())},
                         {"failures", count(State::kFailed)},
                         {"errors", count(State::kError)},
                         {"skipped", count(State::kSkipped)},
                         {"time", fmt::format("{:.3f}", suite.seconds)},
                         {"timestamp", suite.timestamp},
                         {"hostname", suite.host}});
  xml.Text("\n");
  for (const JunitCase& c : suite.cases) {
    xml.Open("testcase", {{"classname", suite.name}, {"name", c.name}, {"time", fmt::format("{:.3f}", c.seconds)}});
    if (const char* tag = kTags[static_cast<size_t>(c.state)]) xml.Element(tag, c.details, {{"message", c.message}});
    xml.Close();
  }
  xml.Close();
  return std::move(xml).Finish();
}

std::string JunitText(const ReportData& data) {
  JunitSuite suite{data.job, data.Sum().wall_seconds, data.bench.recorded, data.bench.host, {VerificationCase(data)}};
  for (const TaskFact& task : data.tasks) {
    // An alternative that does not work is not a failure of the network.
    if (task.uses > 0 || task.HasCorrectTrial()) suite.cases.push_back(TaskCase(task));
  }
  return JunitSuiteText(suite);
}

}  // namespace hone::report
