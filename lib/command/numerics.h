// The cap on Winograd (`[numerics] winograd`) as a flag.
#pragma once

#include <string>

#include "base/result.h"
#include "op/operator.h"

namespace hone::command {

// "off", "2", "4" or "6": the value of --winograd. kInvalid for anything else.
Result<op::Numerics> ParseWinogradCap(const std::string& text);

}  // namespace hone::command
