// What the limits of op::Numerics mean for configurations that are recorded already.
#pragma once

#include <optional>
#include <string>

#include "op/operator.h"
#include "task/config.h"

namespace hone::op {

// Why `numerics` forbid `config`, or nothing: they do not, or its template is none of this workload's.
std::optional<std::string> Forbidden(const Workload& workload, const Target& target, const Numerics& numerics,
                                     const Config& config);

// Which of the limits would forbid some point of this workload: its records are the same whatever the others are.
struct NumericsMatter {
  bool winograd = false, tf32 = false;
};
NumericsMatter WhichNumericsMatter(const Workload& workload, const Target& target);

}  // namespace hone::op
