// A closed-form estimate of conv2d_winograd's time.
#pragma once

#include "op/conv/conv2d_winograd_space.h"

namespace hone::op {

// Approximate cycles of the busiest thread: orders points of one layer, on cores with two FMA and two load ports and a
// second-level cache of 1 to 2 MB; not comparable with other algorithms. Products and transforms count in instructions,
// weights in bytes: a network finds them in memory, not in a cache.
double WinogradCycles(const WinogradLayer& layer, const WinogradPoint& point);

}  // namespace hone::op
