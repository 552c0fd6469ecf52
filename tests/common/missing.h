// A tool that this machine lacks a device for, or a compiler: its test is skipped, for the reason that the tool gives.
#pragma once

#include <string>

#include "base/subprocess.h"
#include "base/text.h"

namespace hone {

// What the tool says if it ended for want of `what` ("OpenCL", "NVRTC"); empty if it ran, or failed for another reason.
inline std::string Lacks(const CommandResult& result, const std::string& what) {
  const std::string last = Split(Trim(result.err), '\n').back();
  const size_t at = last.find(": error: ");
  const bool said = at != std::string::npos && StartsWith(std::string_view(last).substr(at), ": error: no " + what);
  return said && result.status.ToString() == "exited 1" ? last : "";
}

}  // namespace hone
