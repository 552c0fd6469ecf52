// Numerics (`[numerics] winograd`, `tf32`) as flags.
#pragma once

#include <string>

#include "base/result.h"
#include "op/operator.h"

namespace hone::command {

// `winograd`: "off", "2", "4" or "6", the value of --winograd; kInvalid for anything else.
Result<op::Numerics> ParseNumerics(const std::string& winograd, bool tf32);

}  // namespace hone::command
