// Built libraries in fresh processes of their own: what hone-bench's ways of timing share.
#pragma once

#include <string>
#include <vector>

#include "base/lock.h"
#include "base/result.h"
#include "library/loaded_network.h"
#include "library/time_network.h"

namespace hone::command {

// What a fresh process says, which has the machine for itself as long as it lasts. kCrashed with its last words,
// kTimeout, kInterrupted.
Result<library::TimeReply> TimeInProcess(const library::TimeRequest& request, MachineLock* machine);

// How far `reply.outputs` are from `expected` (library::RelativeError). kCorrupt if that is too far, kInvalid if they
// are not as many. `error`: the largest, also then.
Status VerifyOutputs(const std::string& dir, const library::TimeReply& reply,
                     const std::vector<std::vector<double>>& expected, double* error);

// Rounding through a few dozen layers of f32 makes 1e-6 to 1e-5 of the outputs' deviation; a wrong kernel makes
// about 1.
inline constexpr double kOutputTolerance = 1e-3;

}  // namespace hone::command
