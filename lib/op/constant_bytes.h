// The memory of a kernel's constants as it reads them: packed weights (for Winograd up to seven times as much).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "target/target.h"
#include "task/candidate.h"
#include "task/workload.h"

namespace hone::op {

// The bytes of all constants of one kernel, including those read unchanged (a bias): what one node of a network adds to
// its library's parameters. Compiles nothing. Returns an error if the candidate does not fit the workload.
Result<int64_t> ConstantBytes(const Workload& workload, const Target& target, const Candidate& candidate);

}  // namespace hone::op
