// hone-tune --doctor: what of this machine tuning depends on, and what is wrong with it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hone::command {

struct Finding {
  std::string subject;  // "cpu", "governor", "sandbox"
  std::string text;
  std::string advice;  // what to do; empty: nothing is wrong
};

// Takes about a second: it watches the load, and tries the sandbox.
Result<std::vector<Finding>> Examine();

// A line a finding, advice below it.
std::string FindingsText(const std::vector<Finding>& findings);

// Prints them. Returns the exit code: 0 whatever was found, as nothing of it keeps Hone from working.
int RunDoctor();

}  // namespace hone::command
