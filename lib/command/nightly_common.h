// What the series of nights have in common.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "library/time_network.h"
#include "target/target.h"

namespace hone::command {

// The machine, or the device of the target, and the way that nights measure; not what is measured. An error if there is
// no such device.
Result<std::string> NightFingerprint(const Target& target);
// How a process of a night is timed: 5 runs to warm up, then 30 at least, for 0.2 s at least, but for no more than 10 s
// once there are 5. Without a folder.
library::TimeRequest NightRequest();

std::string NightTools();  // versions of what builds libraries

// Of a test: seconds by digest, from lines `DIGEST SECONDS`.
Result<std::map<std::string, double>> ReadFakeTimes(const std::string& path);
Status NoTimeInvented(const std::string& digest);  // of an artifact that is not among them: as if its process had died

}  // namespace hone::command
