// The process of a measuring child that runs candidates: base/sandbox.h puts others between it and the test.
#pragma once

#include <string>

#include "base/file.h"
#include "base/text.h"

namespace hone {

// The last one of the chain of first children that begins with `pid`.
inline std::string InnerProcess(pid_t pid) {
  std::string inner = std::to_string(pid);
  while (true) {
    const auto children = ReadFile("/proc/" + inner + "/task/" + inner + "/children");
    if (!children.ok() || SplitWords(*children).empty()) return inner;
    inner = SplitWords(*children).front();
  }
}

}  // namespace hone
