// The meaning of op::Numerics for algorithms, templates, and recorded configurations.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "op/operator.h"
#include "task/config.h"
#include "task/outcome.h"

namespace hone::op {

// The algorithm that rounds its factors to TF32.
inline constexpr char kTf32Gemm[] = "gemm_tf32";

// Why `numerics` forbid `algorithm`; nothing if they allow it.
std::optional<std::string> Forbidden(const Numerics& numerics, const Algorithm& algorithm);

// Implements Template::Limit for a template whose points use Winograd with tiles of m(config).
void LimitWinograd(const Numerics& numerics, std::function<int64_t(const Config&)> m, Space* space);
// The same for a template that rounds its factors to TF32.
void LimitTf32(const Numerics& numerics, Space* space);

// Why `numerics` forbid the meaning of `config` for this workload; nothing if they allow it, or if the workload has no
// template of that name.
std::optional<std::string> Forbidden(const Workload& workload, const Target& target, const Numerics& numerics,
                                     const Config& config);
// The same for a trial, whose algorithm is recorded, so that the template need not exist.
std::optional<std::string> Forbidden(const Workload& workload, const Target& target, const Numerics& numerics,
                                     const Outcome& outcome);

// Which of the limits would forbid some point of this workload: the other limits do not affect its records.
struct NumericsMatter {
  bool winograd = false, tf32 = false;
};
NumericsMatter WhichNumericsMatter(const Workload& workload, const Target& target);

}  // namespace hone::op
