#include <fmt/format.h>

#include "base/text.h"
#include "report/html.h"
#include "report/outputs.h"

namespace hone::report {
namespace {

struct Case {
  std::string name;
  double seconds = 0;
  std::string failure;  // one line; empty: passed
  std::string details;
};

Case VerificationCase(const ReportData& data) {
  const Verification& v = data.bench.verification;
  Case c{"verification", 0, "", ""};
  if (v.ok) return c;
  c.failure = fmt::format("largest error {:.3g} of the reference's standard deviation, allowed {:.3g}", v.max_error,
                          v.tolerance);
  return c;
}

Case TaskCase(const TaskFact& task) {
  Case c{task.id + ": has a correct trial", task.wall_seconds, "", ""};
  if (task.HasCorrectTrial()) return c;
  c.failure = CountsText(TotalsOf(task)) + "; built from: " + task.source;
  c.details = task.workload + "\n";
  for (const FailureFact& f : task.failures) {
    c.details += fmt::format("{} x {}, first (trial {}): {}\n  {}\n", f.count, f.kind, f.trial, f.message, f.repeat);
  }
  return c;
}

}  // namespace

std::string JunitText(const ReportData& data) {
  std::vector<Case> cases = {VerificationCase(data)};
  for (const TaskFact& task : data.tasks) {
    // An alternative that does not work is no failure of the network.
    if (task.uses > 0 || task.HasCorrectTrial()) cases.push_back(TaskCase(task));
  }
  int failures = 0;
  for (const Case& c : cases) failures += !c.failure.empty();
  HtmlWriter xml;
  xml.Trusted("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  xml.Open("testsuite", {{"name", data.job},
                         {"tests", std::to_string(cases.size())},
                         {"failures", std::to_string(failures)},
                         {"errors", "0"},
                         {"skipped", "0"},
                         {"time", fmt::format("{:.3f}", data.Sum().wall_seconds)},
                         {"timestamp", data.bench.recorded},
                         {"hostname", data.bench.host}});
  xml.Text("\n");
  for (const Case& c : cases) {
    xml.Open("testcase", {{"classname", data.job}, {"name", c.name}, {"time", fmt::format("{:.3f}", c.seconds)}});
    if (!c.failure.empty()) xml.Element("failure", c.details, {{"message", c.failure}});
    xml.Close();
  }
  xml.Close();
  return std::move(xml).Finish();
}

}  // namespace hone::report
