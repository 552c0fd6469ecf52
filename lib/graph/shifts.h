// By how many bits the sums of a layer of bytes are shifted (`shift(T)`, semantics/epilogue.h), if all its scales are
// powers of two.
#pragma once

#include <optional>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"

namespace hone::graph {

// n, if to = 2^n from. Returns kInvalid for scales that are not powers of two.
Result<int> BitsBetween(float from, float to);

// By channel.
struct Shifts {
  std::vector<double> sums;      // n: sums * 2^-n are steps of the output
  std::vector<double> residual;  // k: residual * 2^k are steps of the sums; empty without one
};

struct ShiftedResidual {
  float scale = 1;
  DType type;  // u8 or i8
};

// `scales` and `largest` are those of the channels' sums: what 1 stands for, and the largest magnitude that data can
// cause. Returns kInvalid for a scale that is not a power of two, for a residual that is finer than the sums (k < 0),
// and for sums that could leave i32 on an accelerator, which adds the residual and 2^(n-1), or shifts to the left, in
// 32 bits.
Result<Shifts> ChooseShifts(const std::vector<float>& scales, const std::vector<double>& largest,
                            const std::optional<ShiftedResidual>& residual, float to);

}  // namespace hone::graph
