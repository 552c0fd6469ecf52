#include "report/junit_suite.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/html.h"

namespace hone::report {
namespace {

const char* Tag(JunitCase::State state) {
  switch (state) {
    case JunitCase::State::kFailed:
      return "failure";
    case JunitCase::State::kError:
      return "error";
    case JunitCase::State::kSkipped:
      return "skipped";
    case JunitCase::State::kPassed:
      break;
  }
  return nullptr;
}

}  // namespace

std::string JunitSuiteText(const JunitSuite& suite) {
  const auto count = [&](JunitCase::State state) {
    return std::to_string(std::count_if(suite.cases.begin(), suite.cases.end(),
                                        [state](const JunitCase& c) { return c.state == state; }));
  };
  HtmlWriter xml;
  xml.Trusted("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  xml.Open("testsuite", {{"name", suite.name},
                         {"tests", std::to_string(suite.cases.size())},
                         {"failures", count(JunitCase::State::kFailed)},
                         {"errors", count(JunitCase::State::kError)},
                         {"skipped", count(JunitCase::State::kSkipped)},
                         {"time", fmt::format("{:.3f}", suite.seconds)},
                         {"timestamp", suite.timestamp},
                         {"hostname", suite.host}});
  xml.Text("\n");
  for (const JunitCase& c : suite.cases) {
    xml.Open("testcase", {{"classname", suite.name}, {"name", c.name}, {"time", fmt::format("{:.3f}", c.seconds)}});
    if (const char* tag = Tag(c.state)) xml.Element(tag, c.details, {{"message", c.message}});
    xml.Close();
  }
  xml.Close();
  return std::move(xml).Finish();
}

}  // namespace hone::report
