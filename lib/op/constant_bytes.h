// What a kernel's constants take as it reads them: weights packed its way (of Winograd's up to seven times as much).
#pragma once

#include <cstdint>

#include "base/result.h"
#include "target/target.h"
#include "task/config.h"
#include "task/workload.h"

namespace hone::op {

// The bytes of all constants of one kernel, those that are read as they are (a bias) included: what one node of a
// network adds to its library's parameters. Compiles nothing. As Instantiate for a config that is none of the
// workload's.
Result<int64_t> ConstantBytes(const Workload& workload, const Target& target, const Config& config);

}  // namespace hone::op
