// What the series of nights have in common.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "target/target.h"

namespace hone::command {

// The machine, or the device of the target, and the way that nights measure; not what is measured. An error if there is
// no such device.
Result<std::string> NightFingerprint(const Target& target);
std::string NightTools();  // versions of what builds libraries

// Of a test: seconds by digest, from lines `DIGEST SECONDS`.
Result<std::map<std::string, double>> ReadFakeTimes(const std::string& path);

}  // namespace hone::command
