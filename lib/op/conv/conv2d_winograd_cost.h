// A closed-form estimate of conv2d_winograd's time.
#pragma once

#include "op/conv/conv2d_winograd_space.h"

namespace hone::op {

// Cycles of the busiest thread, roughly: it orders points of one layer, on cores with two FMA and two load ports and a
// second-level cache of 1 to 2 MB, and says nothing of other algorithms. Products and transforms are counted in
// instructions, weights in bytes: a network finds them in memory, not in a cache.
double WinogradCycles(const WinogradLayer& layer, const WinogradPoint& point);

}  // namespace hone::op
