// The memory of a kernel's constants as it reads them: packed weights (for Winograd up to seven times as much).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "target/target.h"
#include "task/config.h"
#include "task/workload.h"

namespace hone::op {

// The bytes of all constants of one kernel, including those read unchanged (a bias): what one node of a network adds to
// its library's parameters. Compiles nothing. Errors as in Instantiate for a config that is not the workload's.
Result<int64_t> ConstantBytes(const Workload& workload, const Target& target, const Config& config);

}  // namespace hone::op
