// What the limits of op::Numerics mean for algorithms, templates, and configurations that are recorded already.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "op/operator.h"
#include "task/config.h"
#include "task/outcome.h"

namespace hone::op {

// The algorithm whose factors are rounded to TF32.
inline constexpr char kTf32Gemm[] = "gemm_tf32";

// Why `numerics` forbid `algorithm`, or nothing.
std::optional<std::string> Forbidden(const Numerics& numerics, const Algorithm& algorithm);

// Template::Limit of a template whose points are computed by Winograd with tiles of m(config).
void LimitWinograd(const Numerics& numerics, std::function<int64_t(const Config&)> m, search::Space* space);
// Of one whose factors are rounded to TF32.
void LimitTf32(const Numerics& numerics, search::Space* space);

// Why `numerics` forbid what `config` means for this workload, or nothing: they do not, or the workload has no template
// of its name.
std::optional<std::string> Forbidden(const Workload& workload, const Target& target, const Numerics& numerics,
                                     const Config& config);
// The same for a trial, whose algorithm is recorded: the template need not exist.
std::optional<std::string> Forbidden(const Workload& workload, const Target& target, const Numerics& numerics,
                                     const Outcome& outcome);

// Which of the limits would forbid some point of this workload: its records are the same whatever the others are.
struct NumericsMatter {
  bool winograd = false, tf32 = false;
};
NumericsMatter WhichNumericsMatter(const Workload& workload, const Target& target);

}  // namespace hone::op
