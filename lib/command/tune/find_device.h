// Finds out whether a target's device is available, before tuning and to write a target file for it.
#pragma once

#include <string>

namespace hone::command {

// hone-tune --find-device TARGET.json --out FILE: looks for a device that runs the target, and for its compiler, and
// describes them. If something is missing, prints one line that says what to do and returns kFailed. Returns the exit
// code.
int RunFindDevice(const std::string& target_path, const std::string& out);

// hone-tune --describe-device cuda|opencl: prints the device that is found as a target file to stdout. Returns the exit
// code.
int RunDescribeDevice(const std::string& kind);

}  // namespace hone::command
