// JSON that can stand in a page.
#pragma once

#include <string>

#include "base/json_fwd.h"

namespace hone::report {

// On one line, without a '<'.
std::string IslandText(const Json& json);

// `value` with this many significant digits: what a measurement says, in a third of the bytes.
double Rounded(double value, int digits);

}  // namespace hone::report
