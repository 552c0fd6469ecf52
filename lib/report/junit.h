// The JUnit XML format of build servers, as Ant's junitreport and its successors read it.
#pragma once

#include <string>
#include <vector>

namespace hone::report {

struct JunitCase {
  std::string name;
  double seconds = 0;
  enum class State { kPassed, kFailed, kError, kSkipped } state = State::kPassed;
  std::string message;  // one line, unless it passed
  std::string details;
};

struct JunitSuite {
  std::string name;
  double seconds = 0;
  std::string timestamp, host;
  std::vector<JunitCase> cases;
};

std::string JunitSuiteText(const JunitSuite& suite);

}  // namespace hone::report
