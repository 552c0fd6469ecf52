// hone-doctor: checks what tuning depends on in this machine.
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

// Watches the load for half a second and tries the sandbox.
Result<std::vector<Finding>> Examine();

// One line a finding, its advice on the next.
std::string FindingsText(const std::vector<Finding>& findings);

// Prints the findings. Returns the exit code: 0 whatever they are, since Hone works with all of them.
int RunDoctor();

}  // namespace hone::command
