// Random computations: element-wise stages, broadcasts, reductions, windows, products, padding, transposed and merged
// axes, in any order.
#pragma once

#include <cstdint>

#include "agree/problems.h"

namespace hone::agree {

// At most `most_stages` stages, with one output; a seed that is a multiple of 8 gives a window over pixels. All values are small integers if the inputs' are at most 4.
Problem RandomDag(uint64_t seed, int most_stages);

}  // namespace hone::agree
