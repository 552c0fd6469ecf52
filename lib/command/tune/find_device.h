// Is the device there that a target needs? Asked before tuning begins, and to write a target file for it.
#pragma once

#include <string>

namespace hone::command {

// hone-tune --find-device TARGET.json --out FILE: looks for a device that runs the target (and for what compiles for
// it) and describes it. kFailed with one line: what is missing and what to do. The exit code.
int RunFindDevice(const std::string& target_path, const std::string& out);

// hone-tune --describe-device cuda|opencl: the device that is found, as a target file, on stdout. The exit code.
int RunDescribeDevice(const std::string& kind);

}  // namespace hone::command
