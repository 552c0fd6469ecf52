// For tools that need a device or compiler that this machine lacks: skips the test, with the tool's reason.
#pragma once

#include <string>

#include "base/subprocess.h"
#include "base/text.h"

namespace hone {

// The tool's message if it ended because `what` ("OpenCL", "NVRTC") is missing; empty if it ran, or failed for another
// reason.
inline std::string Lacks(const CommandResult& result, const std::string& what) {
  const std::string last = Split(Trim(result.err), '\n').back();
  const size_t at = last.find(": error: ");
  const bool said = at != std::string::npos && StartsWith(std::string_view(last).substr(at), ": error: no " + what);
  return said && result.status.ToString() == "exited 1" ? last : "";
}

}  // namespace hone
