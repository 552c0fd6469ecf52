// What the series of nights have in common.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace hone::command {

// The machine, and the way that nights measure; not what is measured.
std::string NightFingerprint();
std::string NightTools();  // versions of what builds libraries

// Of a test: seconds by digest, from lines `DIGEST SECONDS`.
Result<std::map<std::string, double>> ReadFakeTimes(const std::string& path);

}  // namespace hone::command
