// Are a built network's outputs right? Against those of the reference execution (library/reference_cache.h), or of
// another build of the same network.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "task/tensor_data.h"

namespace hone::library {

// Rounding through a few dozen layers of f32 makes 1e-6 to 1e-5 of the outputs' deviation; a wrong kernel makes
// about 1.
inline constexpr double kOutputTolerance = 1e-3;

// The tolerance (RelativeError) for outputs of a network whose kernels may round this much beyond plain sums
// (NetworkRounding, library/kernels.h).
inline double OutputTolerance(double rounding) { return kOutputTolerance + rounding; }

// How far `found` is from `expected`: the largest difference over the expected values' standard deviation. Infinite if
// anything is not finite.
double RelativeError(const std::vector<double>& found, const std::vector<double>& expected);

// kCorrupt if an output in `found` is off by more than the tolerance, kInvalid if they are not as many as expected;
// with `where` in front. `error`: the largest, also then.
Status VerifyOutputs(const std::string& where, double rounding, const std::vector<TensorData>& found,
                     const std::vector<std::vector<double>>& expected, double* error);

}  // namespace hone::library
